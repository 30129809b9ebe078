/** Sessions of browsers: an opaque token in a cookie, its digest in the database. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import type { Viewer } from '../context.ts';
import { newId } from '../ids.ts';
import { query, sql } from '../sql.ts';
import { SessionSchema, UserSchema } from './account.entity.ts';
import type { SessionRow, UserRow } from './account.entity.ts';
import { rememberPlace } from './notices.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** A session ends after this long without use … */
const IDLE_MS = 14 * DAY_MS;
/** … and after this long in any case. */
const ABSOLUTE_MS = 90 * DAY_MS;
/** Without "remember me". */
const SHORT_MS = DAY_MS;
const TOUCH_EVERY_MS = 60_000;
const USER_AGENT_LENGTH_MAX = 300;

/** Where a request comes from, as sessions and acceptances keep it. */
export interface Origin {
  ip: string | null;
  userAgent: string | null;
}

/** A signed-in user with the new session's token, which exists nowhere else. */
export interface SignedIn {
  user: UserRow;
  session: SessionRow;
  token: string;
}

/**
 * A new session of the user, who is told of a place not used before. The token exists in this result
 * alone.
 */
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
  await rememberPlace(em, user, options.ip);
  return { session, token };
}

/** Who a session token belongs to; null for unknown or expired ones and for users who may not sign in. */
export async function viewerOfToken(em: EntityManager, token: string): Promise<Viewer | null> {
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

/** Live sessions of a user, newest first, those before the id `before`. */
export function sessionsOf(
  em: EntityManager,
  userId: string,
  page: { before: unknown; limit: number },
): Promise<SessionRow[]> {
  const older = typeof page.before === 'string' ? { id: { $lt: page.before } } : {};
  return em.find(
    SessionSchema,
    { userId, expiresAt: { $gt: new Date() }, ...older },
    { orderBy: { id: 'desc' }, limit: page.limit },
  );
}

/** How many live sessions a user has. */
export function countSessions(em: EntityManager, userId: string): Promise<number> {
  return em.count(SessionSchema, { userId, expiresAt: { $gt: new Date() } });
}

/** Remembers that the session's user just proved who sits there, and says when that was. */
export async function markAuthenticated(em: EntityManager, sessionId: string): Promise<Date> {
  const now = new Date();
  await em.nativeUpdate(SessionSchema, { id: sessionId }, { authenticatedAt: now });
  return now;
}

/** Ends one session of the user; true when there was one. */
export async function endSession(em: EntityManager, userId: string, sessionId: string): Promise<boolean> {
  return (await em.nativeDelete(SessionSchema, { id: sessionId, userId })) > 0;
}

/** Ends every session of the user but, where named, this one. */
export async function endSessions(
  em: EntityManager,
  userId: string,
  except: string | null = null,
): Promise<void> {
  await em.nativeDelete(SessionSchema, except ? { userId, id: { $ne: except } } : { userId });
}

/** Use keeps a remembered session alive; written at most once a minute. */
async function touch(em: EntityManager, session: SessionRow): Promise<void> {
  const now = Date.now();
  if (now - session.lastSeenAt.getTime() < TOUCH_EVERY_MS) return;
  const remembered = session.expiresAt.getTime() - session.lastSeenAt.getTime() > SHORT_MS;
  const end = remembered
    ? Math.min(now + IDLE_MS, session.createdAt.getTime() + ABSOLUTE_MS)
    : session.expiresAt.getTime();
  await query(
    em,
    sql`update session set last_seen_at = ${new Date(now)}, expires_at = ${new Date(end)}
    where id = ${session.id}`,
  );
}
