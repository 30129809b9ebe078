/** Creates, lists, revokes and resolves access tokens of scripts. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import { pageById } from '../database/page.ts';
import type { RowPage } from '../database/page.ts';
import type { Viewer } from '../graphql/context.ts';
import type { AccessScope } from '../graphql/enums.ts';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { UserSchema } from './account.entity.ts';
import { AccessTokenSchema } from './token.entity.ts';
import type { AccessTokenRow } from './token.entity.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS_MAX = 365;
const NAME_LENGTH_MAX = 80;
/** Maximum number of valid tokens of one user. */
const TOKENS_MAX = 50;
/** How long a token is listed after it expired or was revoked, in days. Deletion runs once an hour. */
export const TOKEN_KEPT_DAYS = 90;
const PREFIX_LENGTH = 8;
/** The last use of a token is written at most this often. */
const TOUCH_EVERY_MS = 60_000;

/** A token to create. */
export interface NewToken {
  name: string;
  scopes: AccessScope[];
  expiresInDays: number;
}

/**
 * Creates a token. Only the digest of its secret is stored. Throws INVALID for a bad name or lifetime or for
 * scopes beyond the owner's role, REQUIRED without scopes, LIMIT_REACHED.
 */
export async function createToken(
  em: EntityManager,
  owner: Pick<Viewer, 'id' | 'role'>,
  input: NewToken,
): Promise<{ token: AccessTokenRow; secret: string }> {
  const { name, scopes } = checked(input, owner.role);
  const secret = issueSecret('gqt');
  return inTransaction(em, async (inner) => {
    await query(inner, sql`select pg_advisory_xact_lock(hashtextextended(${`tokens ${owner.id}`}, 0))`);
    const live = { userId: owner.id, revokedAt: null, expiresAt: { $gt: new Date() } };
    if ((await inner.count(AccessTokenSchema, live)) >= TOKENS_MAX)
      throw new UserFailure('LIMIT_REACHED', `You have ${TOKENS_MAX} access tokens. Revoke one first.`);
    const token = inner.create(AccessTokenSchema, {
      id: newId('tok'),
      userId: owner.id,
      name,
      prefix: secret.slice(0, PREFIX_LENGTH),
      tokenDigest: digestOf(secret),
      scopes,
      lastUsedAt: null,
      expiresAt: new Date(Date.now() + input.expiresInDays * DAY_MS),
      revokedAt: null,
    });
    await inner.flush();
    return { token, secret };
  });
}

/** Revokes a token of the user permanently. Repeating it changes nothing. Throws NOT_FOUND. */
export async function revokeToken(em: EntityManager, userId: string, id: string): Promise<AccessTokenRow> {
  const token = await em.findOne(AccessTokenSchema, { id, userId });
  if (!token) {
    const message =
      'Unknown access token. ' +
      `Tokens that expired or were revoked more than ${TOKEN_KEPT_DAYS} days ago are no longer listed.`;
    throw new UserFailure('NOT_FOUND', message, 'id');
  }
  token.revokedAt ??= new Date();
  await em.flush();
  return token;
}

/** Revokes all tokens of the user. */
export async function revokeTokens(em: EntityManager, userId: string): Promise<void> {
  await em.nativeUpdate(AccessTokenSchema, { userId, revokedAt: null }, { revokedAt: new Date() });
}

/** A page of the user's tokens, newest first. Includes expired ones. */
export function tokensOf(em: EntityManager, userId: string, page: RowPage): Promise<AccessTokenRow[]> {
  const { where, options } = pageById(page);
  return em.find(AccessTokenSchema, { userId, ...where }, options);
}

/** Number of tokens of a user, including expired and revoked ones. */
export function countTokens(em: EntityManager, userId: string): Promise<number> {
  return em.count(AccessTokenSchema, { userId });
}

/**
 * The viewer of an access token. Its role is ADMIN only if the owner is an administrator now and the token
 * has an ADMIN scope. Null if the token is unknown, expired or revoked, or the owner is not active.
 */
export async function viewerOfAccessToken(em: EntityManager, secret: string): Promise<Viewer | null> {
  const live = { tokenDigest: digestOf(secret), revokedAt: null, expiresAt: { $gt: new Date() } };
  const token = await em.findOne(AccessTokenSchema, live);
  const user = token && (await em.findOne(UserSchema, { id: token.userId, state: 'ACTIVE' }));
  if (!token || !user) return null;
  if (Date.now() - (token.lastUsedAt?.getTime() ?? 0) > TOUCH_EVERY_MS)
    await query(em, sql`update access_token set last_used_at = now() where id = ${token.id}`);
  const scopes = token.scopes.filter((scope) => user.role === 'ADMIN' || !isAdminScope(scope));
  return {
    id: user.id,
    email: user.email,
    role: scopes.some(isAdminScope) ? 'ADMIN' : 'USER',
    allowedGroups: user.allowedGroups,
    session: null,
    token: { id: token.id, name: token.name, scopes },
  };
}

function checked(input: NewToken, role: Viewer['role']): { name: string; scopes: AccessScope[] } {
  const name = input.name.trim();
  if (!name || name.length > NAME_LENGTH_MAX)
    throw new UserFailure('INVALID', `Enter a name of 1 to ${NAME_LENGTH_MAX} characters.`, 'name');
  const scopes = [...new Set(input.scopes)];
  if (scopes.length === 0) throw new UserFailure('REQUIRED', 'Choose at least one scope.', 'scopes');
  if (role !== 'ADMIN' && scopes.some(isAdminScope))
    throw new UserFailure('INVALID', 'Only administrators can choose ADMIN scopes. Remove them.', 'scopes');
  if (input.expiresInDays < 1 || input.expiresInDays > DAYS_MAX)
    throw new UserFailure('INVALID', `Choose a lifetime of 1 to ${DAYS_MAX} days.`, 'expiresInDays');
  return { name, scopes };
}

function isAdminScope(scope: AccessScope): boolean {
  return scope.startsWith('ADMIN_');
}
