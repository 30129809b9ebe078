/** Opens, extends and ends sessions of browsers. The token is in a cookie, its digest in the database. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import { pageById } from '../database/page.ts';
import type { RowPage } from '../database/page.ts';
import type { Viewer } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { query, sql } from '../database/sql.ts';
import { SessionSchema, UserSchema } from './account.entity.ts';
import type { SessionRow, UserRow } from './account.entity.ts';
import { recordSignInPlace } from './notices.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** With "remember me", a session ends after this long without use. */
const IDLE_MS = 14 * DAY_MS;
/** Maximum lifetime of a session. Use of the session does not extend it. */
const LIFETIME_MS = 90 * DAY_MS;
/** Lifetime of a session without "remember me". */
const SHORT_MS = DAY_MS;
/** The last use of a session is written at most this often. */
const TOUCH_EVERY_MS = 60_000;
const USER_AGENT_LENGTH_MAX = 300;
/** The shape of session tokens. Any other text needs no look-up. */
const TOKEN_SHAPE = /^gws_[0-9A-Za-z]{42}$/;

/** Origin of a request, as sessions and acceptances record it. */
export interface Origin {
  ip: string | null;
  userAgent: string | null;
  /** Token of the device cookie; absent where no browser signs in. */
  device?: string | null;
}

/** A signed-in user with the new session and its token, of which only the digest is stored. */
export interface SignedIn {
  user: UserRow;
  session: SessionRow;
  token: string;
}

/** Opens a session, and notifies the user if the network is new. Only the digest of the token is stored. */
export async function openSession(
  em: EntityManager,
  user: UserRow,
  options: Origin & { remember: boolean },
): Promise<{ session: SessionRow; token: string }> {
  const token = issueSecret('gws');
  const now = Date.now();
  const session = em.create(SessionSchema, {
    id: newId('ses'),
    userId: user.id,
    tokenDigest: digestOf(token),
    userAgent: options.userAgent?.slice(0, USER_AGENT_LENGTH_MAX) ?? null,
    ip: options.ip,
    lastSeenAt: new Date(now),
    expiresAt: new Date(now + (options.remember ? IDLE_MS : SHORT_MS)),
  });
  await em.flush();
  await recordSignInPlace(em, user, options);
  return { session, token };
}

/** The viewer of a session token; null if it is unknown or expired, or the user is not active. */
export async function viewerOfToken(em: EntityManager, token: string): Promise<Viewer | null> {
  if (!TOKEN_SHAPE.test(token)) return null;
  const session = await em.findOne(SessionSchema, {
    tokenDigest: digestOf(token),
    expiresAt: { $gt: new Date() },
  });
  if (!session) return null;
  const user = await em.findOne(UserSchema, { id: session.userId, state: 'ACTIVE' });
  if (!user) return null;
  await touch(em, session);
  return {
    id: user.id,
    email: user.email,
    role: user.role,
    allowedGroups: user.allowedGroups,
    session: { id: session.id, authenticatedAt: session.authenticatedAt },
    token: null,
  };
}

/** A page of the user's open sessions, newest first. */
export function sessionsOf(em: EntityManager, userId: string, page: RowPage): Promise<SessionRow[]> {
  const { where, options } = pageById(page);
  return em.find(SessionSchema, { userId, expiresAt: { $gt: new Date() }, ...where }, options);
}

/** Number of open sessions of a user. */
export function countSessions(em: EntityManager, userId: string): Promise<number> {
  return em.count(SessionSchema, { userId, expiresAt: { $gt: new Date() } });
}

/** Records that the user of the session re-authenticated now, and returns the time. */
export async function markAuthenticated(em: EntityManager, sessionId: string): Promise<Date> {
  const now = new Date();
  await em.nativeUpdate(SessionSchema, { id: sessionId }, { authenticatedAt: now });
  return now;
}

/** Ends one session of the user. False if there is no such session. */
export async function endSession(em: EntityManager, userId: string, sessionId: string): Promise<boolean> {
  return (await em.nativeDelete(SessionSchema, { id: sessionId, userId })) > 0;
}

/** Ends all sessions of the user but `except`. */
export async function endSessions(
  em: EntityManager,
  userId: string,
  except: string | null = null,
): Promise<void> {
  await em.nativeDelete(SessionSchema, except ? { userId, id: { $ne: except } } : { userId });
}

/** Records the use of a session, at most once a minute, and extends a session with "remember me". */
async function touch(em: EntityManager, session: SessionRow): Promise<void> {
  const now = Date.now();
  if (now - session.lastSeenAt.getTime() < TOUCH_EVERY_MS) return;
  const remembered = session.expiresAt.getTime() - session.lastSeenAt.getTime() > SHORT_MS;
  const end = remembered
    ? Math.min(now + IDLE_MS, session.createdAt.getTime() + LIFETIME_MS)
    : session.expiresAt.getTime();
  await query(
    em,
    sql`update session set last_seen_at = ${new Date(now)}, expires_at = ${new Date(end)}
    where id = ${session.id}`,
  );
}
