/** The target object of an audit event, for callers who may read objects of its type. */
import 'reflect-metadata';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { AuditEvent } from '../audit/audit.resolver.ts';
import type { Lookup } from '../database/batches.ts';
import { isAdminFor } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import type { AccessScope } from '../graphql/enums.ts';
import { prefixOf } from '../database/ids.ts';
import { keysById, modelsByIds, policiesById, providersByIds, routesById, usersById } from '../lookups.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { nodesByIds } from '../nodes/node.service.ts';
import { topUpsByIds } from '../payments/topup.queries.ts';
import { poolsByIds } from '../pools/pool.lookups.ts';
import { walletsByIds } from '../wallet/wallet.resolver.ts';

interface Target {
  scope: AccessScope;
  lookup: Lookup<GlobalObject>;
}

/** Lookups by id prefix. The scopes are those with which `node(id:)` finds objects of other users. */
const TARGETS: Readonly<Record<string, Target>> = {
  usr: { scope: 'ADMIN_USERS', lookup: usersById },
  key: { scope: 'ADMIN_USERS', lookup: keysById },
  pol: { scope: 'ADMIN_USERS', lookup: policiesById },
  mdl: { scope: 'ADMIN_CATALOG', lookup: modelsByIds },
  prv: { scope: 'ADMIN_UPSTREAMS', lookup: providersByIds },
  rte: { scope: 'ADMIN_UPSTREAMS', lookup: routesById },
  nod: { scope: 'ADMIN_NODES', lookup: nodesByIds },
  wal: { scope: 'ADMIN_WALLET', lookup: walletsByIds },
  pool: { scope: 'ADMIN_STOREFRONT', lookup: poolsByIds },
  top: { scope: 'ADMIN_WALLET', lookup: topUpsByIds },
};

/** Resolves the targets of all events of a page with one lookup per type. */
@Resolver(() => AuditEvent)
export class AuditTargetResolver {
  @FieldResolver(() => GlobalObject, {
    nullable: true,
    description:
      'The target as it is now; null if it was deleted, has no id, or the caller may not read its type.',
  })
  async target(@Root() { targetId }: AuditEvent, @Ctx() context: Context): Promise<GlobalObject | null> {
    const target = TARGETS[prefixOf(targetId ?? '') ?? ''];
    if (!targetId || !target || !isAdminFor(context, target.scope)) return null;
    return (await context.batches.load(target.lookup, targetId)) ?? null;
  }
}
