/** What administrators do with users: finding, making, suspending, granting groups. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import type { Group } from '@gateway/shared/catalog';
import { audit } from '../audit/audit.service.ts';
import type { Actor } from '../context.ts';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { leaveGroups } from '../keys/key.service.ts';
import { inTransaction } from '../sql.ts';
import { announceAccount } from '../wallet/account.record.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';
import { SessionSchema, UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { demandAdministrator, demandPerson } from './administrators.ts';
import { mintLink, voidLinks } from './link.service.ts';
import type { MintedLink } from './link.service.ts';
import { isInUse } from './reset.service.ts';
import { endSession, endSessions } from './session.service.ts';

export interface UserQuery {
  search?: string | null;
  states?: UserRow['state'][] | null;
  roles?: UserRow['role'][] | null;
}

/** Users, newest first, those before the id `before`. */
export function findUsers(
  em: EntityManager,
  wanted: UserQuery,
  page: { before: unknown; limit: number },
): Promise<UserRow[]> {
  const older = typeof page.before === 'string' ? { id: { $lt: page.before } } : {};
  return em.find(
    UserSchema,
    { $and: [conditionOf(wanted), older] },
    { orderBy: { id: 'desc' }, limit: page.limit },
  );
}

/** How many users match. */
export function countUsers(em: EntityManager, wanted: UserQuery): Promise<number> {
  return em.count(UserSchema, conditionOf(wanted));
}

export interface NewUser {
  email: string;
  role: UserRow['role'];
  allowedGroups: Group[];
  reason: string;
}

/**
 * A user without a password, who sets one by a single-use link. Throws TAKEN, REQUIRED, and FORBIDDEN where a
 * script would make an administrator.
 */
export async function createUser(em: EntityManager, input: NewUser, actor: Actor): Promise<UserRow> {
  demandPerson(actor, input.role);
  return inTransaction(em, async (inner) => {
    if (await inner.findOne(UserSchema, { email: input.email })) {
      throw new UserFailure('TAKEN', 'There is an account with this address already.', 'email');
    }
    const user = inner.create(UserSchema, {
      id: newId('usr'),
      email: input.email,
      role: input.role,
      allowedGroups: groupsOf(input.allowedGroups),
    });
    await inner.flush();
    await audit(inner, {
      actor,
      action: 'user.create',
      targetType: 'User',
      targetId: user.id,
      after: summary(user),
      reason: input.reason,
    });
    await ensureWallet(inner, user.id);
    return user;
  });
}

export interface UserChange {
  id: string;
  state?: UserRow['state'] | null;
  role?: UserRow['role'] | null;
  allowedGroups?: Group[] | null;
  reason: string;
}

/**
 * Changes state, role or groups. Keys in a group that is withdrawn move to `default`; a suspended user's
 * sessions end and the nodes refuse the user's keys. Who becomes an administrator does not do so by a link
 * that was minted before. Throws NOT_FOUND, CONFLICT where no administrator would be left, FORBIDDEN where a
 * script changes one.
 */
export async function updateUser(em: EntityManager, change: UserChange, actor: Actor): Promise<UserRow> {
  return inTransaction(em, async (inner) => {
    const user = await inner.findOne(UserSchema, { id: change.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!user) throw new UserFailure('NOT_FOUND', 'There is no such user.', 'id');
    demandPerson(actor, user.role, change.role ?? user.role);
    const before = summary(user);
    if (change.role === 'ADMIN' && user.role !== 'ADMIN') await voidLinks(inner, user.id, ['CLAIM']);
    if (change.state) user.state = change.state;
    if (change.role) user.role = change.role;
    if (change.allowedGroups) user.allowedGroups = groupsOf(change.allowedGroups);
    await inner.flush();
    await demandAdministrator(inner);
    await audit(inner, {
      actor,
      action: 'user.update',
      targetType: 'User',
      targetId: user.id,
      before,
      after: summary(user),
      reason: change.reason,
    });
    if (user.state !== 'ACTIVE') await endSessions(inner, user.id);
    await leaveGroups(inner, user.id, user.allowedGroups);
    await announceAccount(inner, await ensureWallet(inner, user.id));
    return user;
  });
}

/** Ends all sessions of a user. Throws NOT_FOUND. */
export async function revokeSessions(
  em: EntityManager,
  input: { id: string; reason: string },
  actor: Actor,
): Promise<UserRow> {
  return inTransaction(em, async (inner) => {
    const user = await userFor(inner, input.id);
    await audit(inner, {
      actor,
      action: 'user.revoke-sessions',
      targetType: 'User',
      targetId: user.id,
      reason: input.reason,
    });
    await endSessions(inner, user.id);
    return user;
  });
}

/** Ends one session of whoever has it. Throws NOT_FOUND. */
export async function revokeSession(
  em: EntityManager,
  input: { id: string; reason: string },
  actor: Actor,
): Promise<UserRow> {
  return inTransaction(em, async (inner) => {
    const session = await inner.findOne(SessionSchema, { id: input.id });
    if (!session) throw new UserFailure('NOT_FOUND', 'There is no such session; it may have ended.', 'id');
    const user = await inner.findOneOrFail(UserSchema, { id: session.userId });
    await audit(inner, {
      actor,
      action: 'user.revoke-session',
      targetType: 'User',
      targetId: user.id,
      before: { session: session.id },
      reason: input.reason,
    });
    await endSession(inner, user.id, session.id);
    return user;
  });
}

/** A link, and the page of the console that takes it. */
export interface UserLink extends MintedLink {
  page: 'claim' | 'reset';
}

/**
 * A single-use link, where no mail can be sent: whoever opens it sets the password, and the address too of an
 * account that nobody uses yet. Throws NOT_FOUND, and FORBIDDEN where a script asks for one of an
 * administrator.
 */
export async function createUserLink(
  em: EntityManager,
  input: { id: string; reason: string },
  actor: Actor,
): Promise<UserLink> {
  return inTransaction(em, async (inner) => {
    const user = await userFor(inner, input.id);
    demandPerson(actor, user.role);
    await audit(inner, {
      actor,
      action: 'user.create-link',
      targetType: 'User',
      targetId: user.id,
      reason: input.reason,
    });
    return { ...(await mintLink(inner, user.id)), page: isInUse(user) ? 'reset' : 'claim' };
  });
}

async function userFor(em: EntityManager, id: string): Promise<UserRow> {
  const user = await em.findOne(UserSchema, { id, state: 'ACTIVE' });
  if (!user) throw new UserFailure('NOT_FOUND', 'There is no such active user.', 'id');
  return user;
}

/** Everybody is in `default`. */
function groupsOf(groups: readonly Group[]): Group[] {
  return [...new Set<Group>(['default', ...groups])];
}

function summary({ email, role, state, allowedGroups }: UserRow): Record<string, unknown> {
  return { email, role, state, allowedGroups };
}

function conditionOf({ search, states, roles }: UserQuery): FilterQuery<UserRow> {
  const text = search?.trim();
  const pattern = text ? `%${text.replace(/[\\%_]/g, '\\$&')}%` : undefined;
  return {
    ...(pattern && {
      $or: [{ email: { $ilike: pattern } }, { displayName: { $ilike: pattern } }, { id: text }],
    }),
    ...(states?.length && { state: { $in: states } }),
    ...(roles?.length && { role: { $in: roles } }),
  };
}
