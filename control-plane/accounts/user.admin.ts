/** Operations of administrators on users: list, create, suspend, change roles and groups, create links. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import type { Group } from '@gateway/shared/catalog';
import { pageByColumn } from '../database/page.ts';
import type { RowPage } from '../database/page.ts';
import { audit } from '../audit/audit.service.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { moveKeysToAllowedGroups } from '../keys/key.service.ts';
import { inTransaction } from '../database/sql.ts';
import { announceAccount } from '../wallet/account.record.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';
import { SessionSchema, UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { requireActiveAdministrator, refuseScriptForAdmins } from './administrators.ts';
import { mintLink, voidLinks } from './link.service.ts';
import type { MintedLink } from './link.service.ts';
import { isInUse } from './reset.service.ts';
import { endSession, endSessions } from './session.service.ts';

/** Filters of the list of users. */
export interface UserQuery {
  search?: string | null;
  states?: UserRow['state'][] | null;
  roles?: UserRow['role'][] | null;
}

/** Sort field and direction of a list of users. */
export interface UserSorting {
  field: 'CREATED_AT' | 'EMAIL';
  direction: 'ASC' | 'DESC';
}

/** A page of the users that match the filter. */
export function findUsers(
  em: EntityManager,
  filter: UserQuery,
  { order, ...page }: RowPage & { order: UserSorting },
): Promise<UserRow[]> {
  const direction = order.direction === 'ASC' ? 'asc' : 'desc';
  const { where, options } = pageByColumn(order.field === 'EMAIL' ? 'email' : null, page, direction);
  return em.find(UserSchema, { $and: [conditionOf(filter), where] }, options);
}

/** Number of users that match the filter. */
export function countUsers(em: EntityManager, filter: UserQuery): Promise<number> {
  return em.count(UserSchema, conditionOf(filter));
}

/** A user to create. */
export interface NewUser {
  email: string;
  role: UserRow['role'];
  allowedGroups: Group[];
  reason: string;
}

/**
 * Creates a user without a password, who sets one by a single-use link. Throws TAKEN, REQUIRED without a
 * reason, and FORBIDDEN if a script would create an administrator.
 */
export async function createUser(em: EntityManager, input: NewUser, actor: Actor): Promise<UserRow> {
  refuseScriptForAdmins(actor, input.role);
  return inTransaction(em, async (inner) => {
    if (await inner.findOne(UserSchema, { email: input.email })) {
      throw new UserFailure(
        'TAKEN',
        'An account with this address already exists. Choose another address.',
        'email',
      );
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

/** Changes of a user. Members that are null or undefined stay unchanged. */
export interface UserChange {
  id: string;
  state?: UserRow['state'] | null;
  role?: UserRow['role'] | null;
  allowedGroups?: Group[] | null;
  reason: string;
}

/**
 * Changes state, role or billing groups of a user. Keys in a removed group move to `default`. If the user is
 * no longer active, sessions end and nodes refuse the user's keys. A promotion to administrator voids claim
 * links that were created before. Throws NOT_FOUND, CONFLICT if no active administrator would be left,
 * FORBIDDEN if a script would change an administrator.
 */
export async function updateUser(em: EntityManager, change: UserChange, actor: Actor): Promise<UserRow> {
  return inTransaction(em, async (inner) => {
    const user = await inner.findOne(UserSchema, { id: change.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!user) throw new UserFailure('NOT_FOUND', 'Unknown user. Reload the list of users.', 'id');
    refuseScriptForAdmins(actor, user.role, change.role ?? user.role);
    const before = summary(user);
    if (change.role === 'ADMIN' && user.role !== 'ADMIN') await voidLinks(inner, user.id, ['CLAIM']);
    if (change.state) user.state = change.state;
    if (change.role) user.role = change.role;
    if (change.allowedGroups) user.allowedGroups = groupsOf(change.allowedGroups);
    await inner.flush();
    await requireActiveAdministrator(inner);
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
    await moveKeysToAllowedGroups(inner, user.id, user.allowedGroups);
    await announceAccount(inner, await ensureWallet(inner, user.id));
    return user;
  });
}

/** Ends all sessions of an active user. Throws NOT_FOUND. */
export async function revokeSessions(
  em: EntityManager,
  input: { id: string; reason: string },
  actor: Actor,
): Promise<UserRow> {
  return inTransaction(em, async (inner) => {
    const user = await activeUser(inner, input.id);
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

/** Ends one session and returns its user. Throws NOT_FOUND. */
export async function revokeSession(
  em: EntityManager,
  input: { id: string; reason: string },
  actor: Actor,
): Promise<UserRow> {
  return inTransaction(em, async (inner) => {
    const session = await inner.findOne(SessionSchema, { id: input.id });
    if (!session) throw new UserFailure('NOT_FOUND', 'Unknown session. It may have ended already.', 'id');
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

/** A link, and the console page that it opens. */
export interface UserLink extends MintedLink {
  page: 'activate' | 'reset';
}

/**
 * Creates a single-use link with which a user sets a password without mail. Throws NOT_FOUND, and FORBIDDEN
 * if a script requests a link of an administrator.
 */
export async function createUserLink(
  em: EntityManager,
  input: { id: string; reason: string },
  actor: Actor,
): Promise<UserLink> {
  return inTransaction(em, async (inner) => {
    const user = await activeUser(inner, input.id);
    refuseScriptForAdmins(actor, user.role);
    await audit(inner, {
      actor,
      action: 'user.create-link',
      targetType: 'User',
      targetId: user.id,
      reason: input.reason,
    });
    return { ...(await mintLink(inner, user.id)), page: isInUse(user) ? 'reset' : 'activate' };
  });
}

async function activeUser(em: EntityManager, id: string): Promise<UserRow> {
  const user = await em.findOne(UserSchema, { id, state: 'ACTIVE' });
  if (!user) throw new UserFailure('NOT_FOUND', 'Unknown or inactive user. Reload the list of users.', 'id');
  return user;
}

/** The groups with `default`, which every user has. */
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
