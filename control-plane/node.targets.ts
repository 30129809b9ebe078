/** What an event of the audit log was done to, for who may read the log and that kind of thing. */
import 'reflect-metadata';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { AuditEvent } from './audit/audit.resolver.ts';
import type { Lookup } from './batches.ts';
import { isAdminFor } from './context.ts';
import type { Context } from './context.ts';
import type { AccessScope } from './enums.ts';
import { prefixOf } from './ids.ts';
import { keysById, modelsByIds, policiesById, providersByIds, routesById, usersById } from './lookups.ts';
import { NodeInterface } from './node-interface.ts';
import { nodesByIds } from './nodes/node.service.ts';
import { poolsByIds } from './pools/pool.lookups.ts';
import { walletsByIds } from './wallet/wallet.resolver.ts';

interface Target {
  scope: AccessScope;
  lookup: Lookup<NodeInterface>;
}

/** By the prefix of the id; the scopes are those by which `node(id:)` finds such things of others. */
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
};

/** Looked up for all events of a page at once. */
@Resolver(() => AuditEvent)
export class AuditTargetResolver {
  @FieldResolver(() => NodeInterface, {
    nullable: true,
    description:
      'That object as it is now; null where it is gone, has no id, or is of a kind that the caller may not ' +
      'read.',
  })
  async target(@Root() { targetId }: AuditEvent, @Ctx() context: Context): Promise<NodeInterface | null> {
    const target = TARGETS[prefixOf(targetId ?? '') ?? ''];
    if (!targetId || !target || !isAdminFor(context, target.scope)) return null;
    return (await context.batches.load(target.lookup, targetId)) ?? null;
  }
}
