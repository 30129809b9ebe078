/**
 * How each kind of object is found by its id alone: one finder per id prefix, and each answers only to those
 * who may see the object anyway.
 */
import type { SessionRow } from './accounts/account.entity.ts';
import { PolicyVersionSchema, SessionSchema, UserSchema } from './accounts/account.entity.ts';
import { identitiesOf } from './accounts/identity.service.ts';
import { passkeysOf } from './accounts/passkey.service.ts';
import { AccessTokenSchema } from './accounts/token.entity.ts';
import { admitToType } from './access.ts';
import { eventOf } from './audit/audit.resolver.ts';
import { auditEvent } from './audit/audit.service.ts';
import { modelsById, PUBLIC_STATES } from './catalog/catalog.service.ts';
import { isAdminFor } from './context.ts';
import type { Context } from './context.ts';
import { UserFailure } from './errors.ts';
import { anyKey } from './keys/key.queries.ts';
import type { NodeInterface } from './node-interface.ts';
import { listNodes } from './nodes/node.service.ts';
import { findConversation } from './playground/conversation.service.ts';
import { messageById } from './playground/message.service.ts';
import { PoolPeriodSchema } from './pools/pool.entity.ts';
import { visiblePool } from './pools/pool.resolver.ts';
import { findQuote } from './pools/quote.service.ts';
import { queryOne, sql } from './sql.ts';
import { CredentialSchema, RouteSchema } from './upstreams/upstream.entity.ts';
import { providersById } from './upstreams/upstream.service.ts';
import { usageById } from './usage/usage.by-id.ts';
import { entryById } from './wallet/entries.service.ts';
import { walletView } from './wallet/wallet.resolver.ts';
import { walletById } from './wallet/wallet.service.ts';

/** The object with the id, or null where there is none for the caller. */
export type Finder = (context: Context, id: string) => Promise<NodeInterface | null>;

type Scope = Parameters<typeof isAdminFor>[1];

/** By the prefix of the id. */
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
    const key = context.viewer ? await anyKey(context.em, id) : null;
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
  pool: visiblePool,
  per: async (context, id) => {
    const period = context.viewer ? await context.em.findOne(PoolPeriodSchema, { id }) : null;
    if (!period || !(await visiblePool(context, period.poolId))) return null;
    // Periods have no rule of their own: who may not read pools reads none of theirs.
    admitToType(context, 'Pool');
    return period;
  },
  quo: async ({ viewer, em }, id) => (viewer ? findQuote(em, viewer.id, id) : null),
};

function forAdmins(scope: Scope, finder: Finder): Finder {
  return async (context, id) => (isAdminFor(context, scope) ? finder(context, id) : null);
}

function maySee(context: Context, ownerId: string, scope: Scope): boolean {
  return context.viewer?.id === ownerId || isAdminFor(context, scope);
}

/** Whose it is, where the caller may know; `found` reads the column `user_id`. */
async function ownerOf(context: Context, found: ReturnType<typeof sql>): Promise<string | null> {
  const row = context.viewer ? await queryOne<{ user_id: string }>(context.em, found) : undefined;
  return row && maySee(context, row.user_id, 'ADMIN_USERS') ? row.user_id : null;
}

function oneOf<Item extends NodeInterface>(items: readonly Item[], id: string): Item | null {
  return items.find((item) => item.id === id) ?? null;
}

/** Of sessions that have ended nothing is told. */
async function findSession(context: Context, id: string): Promise<SessionRow | null> {
  const session = await context.em.findOne(SessionSchema, { id, expiresAt: { $gt: new Date() } });
  return session && maySee(context, session.userId, 'ADMIN_USERS') ? session : null;
}

async function isWalletShown(context: Context, walletId: string): Promise<boolean> {
  const wallet = context.viewer ? await walletById(context.em, walletId) : undefined;
  return wallet !== undefined && maySee(context, wallet.userId, 'ADMIN_WALLET');
}

async function findMessage({ viewer, em, playground }: Context, id: string): Promise<NodeInterface | null> {
  if (!viewer) return null;
  try {
    return await messageById({ em, playground, userId: viewer.id }, id);
  } catch (error) {
    if (error instanceof UserFailure) return null;
    throw error;
  }
}
