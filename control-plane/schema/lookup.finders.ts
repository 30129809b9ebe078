/** Finders of global objects, one per id prefix. Each returns an object only to callers who may see it. */
import type { SessionRow } from '../accounts/account.entity.ts';
import { PolicyVersionSchema, SessionSchema, UserSchema } from '../accounts/account.entity.ts';
import { identitiesOf } from '../accounts/identity.service.ts';
import { passkeysOf } from '../accounts/passkey.service.ts';
import { AccessTokenSchema } from '../accounts/token.entity.ts';
import { requireTypeAccess } from '../graphql/access.ts';
import { eventOf } from '../audit/audit.resolver.ts';
import { auditEvent } from '../audit/audit.service.ts';
import { modelsById, PUBLIC_STATES } from '../catalog/catalog.service.ts';
import { isAdminFor } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import type { AccessScope } from '../graphql/enums.ts';
import { UserFailure } from '../graphql/errors.ts';
import { ownItem } from '../intelligence/item.resolver.ts';
import { keyById } from '../keys/key.queries.ts';
import type { GlobalObject } from '../graphql/global-object.ts';
import { listNodes } from '../nodes/node.service.ts';
import { findConversation } from '../playground/conversation.service.ts';
import { messageById } from '../playground/message.service.ts';
import { visibleTopUp } from '../payments/topup.resolver.ts';
import { PoolPeriodSchema } from '../pools/pool.entity.ts';
import { visiblePool } from '../pools/pool.resolver.ts';
import { findQuote } from '../pools/quote.service.ts';
import { queryOne, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { CredentialSchema, RouteSchema } from '../upstreams/upstream.entity.ts';
import { providersById } from '../upstreams/upstream.service.ts';
import { usageById } from '../usage/usage.by-id.ts';
import { entryById } from '../wallet/entries.service.ts';
import { walletView } from '../wallet/wallet.resolver.ts';
import { walletById } from '../wallet/wallet.service.ts';

/** The object with the id; null if there is none that the caller may see. */
type Finder = (context: Context, id: string) => Promise<GlobalObject | null>;

/** The finders by id prefix. */
export const FINDERS: Readonly<Record<string, Finder>> = {
  usr: async (context, id) =>
    maySee(context, id, 'ADMIN_USERS') ? context.em.findOne(UserSchema, { id }) : null,
  ses: findSession,
  tok: async ({ viewer, em }, id) =>
    viewer ? em.findOne(AccessTokenSchema, { id, userId: viewer.id }) : null,
  psk: async (context, id) => {
    const owner = await ownerOf(context, sql`select user_id from passkey where id = ${id}`);
    return owner ? oneOf(await passkeysOf(context.em, owner), id) : null;
  },
  idn: async (context, id) => {
    const owner = await ownerOf(context, sql`select user_id from linked_identity where id = ${id}`);
    return owner ? oneOf(await identitiesOf(context.em, owner), id) : null;
  },
  pol: async (context, id) => {
    const policy = await context.em.findOne(PolicyVersionSchema, { id });
    const isPublic = policy !== null && policy.effectiveAt <= new Date();
    return isPublic || isAdminFor(context, 'ADMIN_USERS') ? policy : null;
  },
  key: async (context, id) => {
    const key = context.viewer ? await keyById(context.em, id) : null;
    return key && maySee(context, key.ownerId, 'ADMIN_USERS') ? key : null;
  },
  mdl: async (context, id) => {
    const [model] = await modelsById(context.em, [id]);
    const mayRead = isAdminFor(context, 'ADMIN_CATALOG') || PUBLIC_STATES.includes(model?.state ?? 'DRAFT');
    return model && mayRead ? model : null;
  },
  prv: forAdmins('ADMIN_UPSTREAMS', async ({ em }, id) => (await providersById(em, [id]))[0] ?? null),
  crd: forAdmins('ADMIN_UPSTREAMS', ({ em }, id) => em.findOne(CredentialSchema, { id })),
  rte: forAdmins('ADMIN_UPSTREAMS', ({ em }, id) => em.findOne(RouteSchema, { id })),
  nod: forAdmins('ADMIN_NODES', async ({ em }, id) => (await listNodes(em, [id]))[0] ?? null),
  evt: forAdmins('ADMIN_AUDIT_READ', async ({ em }, id) => {
    const row = await auditEvent(em, id);
    return row ? eventOf(row) : null;
  }),
  wal: async (context, id) => ((await isWalletShown(context, id)) ? walletView(context, id) : null),
  led: async (context, id) => {
    const entry = context.viewer ? await entryById(context.em, id) : undefined;
    return entry && (await isWalletShown(context, entry.walletId)) ? entry : null;
  },
  use: async (context, id) => {
    if (!context.viewer) return null;
    const userId = isAdminFor(context, 'ADMIN_USERS') ? null : context.viewer.id;
    return (await usageById(context.em, id, userId)) ?? null;
  },
  con: async ({ viewer, em, playground }, id) =>
    viewer ? ((await findConversation({ em, playground, userId: viewer.id }, id)) ?? null) : null,
  msg: findMessage,
  itm: ownItem,
  pool: visiblePool,
  per: async (context, id) => {
    const period = context.viewer ? await context.em.findOne(PoolPeriodSchema, { id }) : null;
    if (!period || !(await visiblePool(context, period.poolId))) return null;
    // The type PoolPeriod needs no scope, so the scope of its pool is required.
    requireTypeAccess(context, 'Pool');
    return period;
  },
  top: visibleTopUp,
  quo: async ({ viewer, em }, id) => (viewer ? findQuote(em, viewer.id, id) : null),
};

function forAdmins(scope: AccessScope, finder: Finder): Finder {
  return async (context, id) => (isAdminFor(context, scope) ? finder(context, id) : null);
}

function maySee(context: Context, ownerId: string, scope: AccessScope): boolean {
  return context.viewer?.id === ownerId || isAdminFor(context, scope);
}

/** The owner that the statement selects as `user_id`; null if the caller may not see the owner's objects. */
async function ownerOf(context: Context, statement: Statement): Promise<string | null> {
  const row = context.viewer ? await queryOne<{ user_id: string }>(context.em, statement) : undefined;
  return row && maySee(context, row.user_id, 'ADMIN_USERS') ? row.user_id : null;
}

function oneOf<Item extends GlobalObject>(items: readonly Item[], id: string): Item | null {
  return items.find((item) => item.id === id) ?? null;
}

/** Finds sessions that have not expired. */
async function findSession(context: Context, id: string): Promise<SessionRow | null> {
  const session = await context.em.findOne(SessionSchema, { id, expiresAt: { $gt: new Date() } });
  return session && maySee(context, session.userId, 'ADMIN_USERS') ? session : null;
}

async function isWalletShown(context: Context, walletId: string): Promise<boolean> {
  const wallet = context.viewer ? await walletById(context.em, walletId) : undefined;
  return wallet !== undefined && maySee(context, wallet.userId, 'ADMIN_WALLET');
}

async function findMessage({ viewer, em, playground }: Context, id: string): Promise<GlobalObject | null> {
  if (!viewer) return null;
  try {
    return await messageById({ em, playground, userId: viewer.id }, id);
  } catch (error) {
    if (error instanceof UserFailure) return null;
    throw error;
  }
}
