/** Registering, signing in and out, accepting the policy, and claiming the first administrator's account. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { signInFailures } from '../metrics.ts';
import { inTransaction, query, sql } from '../sql.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';
import { AccountLinkSchema, UserSchema } from './account.entity.ts';
import type { SessionRow, UserRow } from './account.entity.ts';
import { attemptSucceeded, beginAttempt } from './attempts.ts';
import { demandSecondFactor, factorsOf, removeTotp } from './factor.service.ts';
import type { SecondFactor } from './factor.service.ts';
import { checkPassword, hashPassword, passwordMatches } from './password.ts';
import { accept, checkAcceptable } from './policy.service.ts';
import { endSessions, openSession } from './session.service.ts';
import type { Origin } from './session.service.ts';

const LINK_MS = 24 * 60 * 60 * 1000;
/** The address of the seeded administrator until somebody claims the account. */
const UNCLAIMED_EMAIL = 'admin@localhost';
const NAME_LENGTH_MAX = 100;
/** Languages of the console. */
export const LOCALES = ['en', 'zh-CN'];

export interface Registration {
  email: string;
  password: string;
  displayName?: string | null;
  locale?: string | null;
  acceptPolicyVersion: string;
}

/** A signed-in user with the new session's token, which exists nowhere else. */
export interface SignedIn {
  user: UserRow;
  session: SessionRow;
  token: string;
}

/** A new user with a wallet and a session. Throws POLICY_*, PASSWORD_WEAK, TAKEN, INVALID. */
export async function register(em: EntityManager, input: Registration, origin: Origin): Promise<SignedIn> {
  const policy = await checkAcceptable(em, input.acceptPolicyVersion);
  checkPassword(input.password, input.email);
  const displayName = nameOf(input.displayName);
  await beginAttempt(em, { purpose: 'register', email: null, ip: origin.ip });
  const passwordHash = await hashPassword(input.password);
  return inTransaction(em, async (inner) => {
    if (await inner.findOne(UserSchema, { email: input.email })) throw taken();
    const user = inner.create(UserSchema, {
      id: newId('usr'),
      email: input.email,
      passwordHash,
      displayName,
      allowedGroups: ['default'],
      locale: input.locale && LOCALES.includes(input.locale) ? input.locale : 'en',
    });
    await inner.flush().catch(onTaken);
    await accept(inner, { user, policy, ip: origin.ip });
    await ensureWallet(inner, user.id);
    return { user, ...(await openSession(inner, user, { ...origin, remember: true })) };
  });
}

/**
 * A new session. Throws CREDENTIALS_INVALID alike, in words and time, for an unknown account and a wrong
 * password;
 * TOTP_REQUIRED where the right password is not enough; RATE_LIMITED after too many failures.
 */
export async function signIn(
  em: EntityManager,
  input: { email: string; password: string; rememberMe: boolean } & SecondFactor,
  origin: Origin,
): Promise<SignedIn> {
  const attempt = { purpose: 'sign-in' as const, email: input.email, ip: origin.ip };
  await beginAttempt(em, attempt);
  const user = await em.findOne(UserSchema, { email: input.email });
  const matches = await passwordMatches(user?.passwordHash ?? null, input.password);
  if (!user || !matches || user.state !== 'ACTIVE') {
    signInFailures.inc({ reason: 'credentials' });
    throw new UserFailure('CREDENTIALS_INVALID', 'E-mail address or password is not right.');
  }
  await demandSecondFactor(em, user.id, input);
  await attemptSucceeded(em, attempt);
  return { user, ...(await openSession(em, user, { ...origin, remember: input.rememberMe })) };
}

/** Changes the password and ends all other sessions. Throws CREDENTIALS_INVALID, PASSWORD_WEAK. */
export async function changePassword(
  em: EntityManager,
  userId: string,
  input: { currentPassword: string; newPassword: string; sessionId: string },
): Promise<UserRow> {
  const user = await em.findOneOrFail(UserSchema, { id: userId });
  const attempt = { purpose: 'sign-in' as const, email: user.email, ip: null };
  await beginAttempt(em, attempt);
  if (!(await passwordMatches(user.passwordHash ?? null, input.currentPassword))) {
    throw new UserFailure('CREDENTIALS_INVALID', 'The current password is not right.', 'currentPassword');
  }
  await attemptSucceeded(em, attempt);
  checkPassword(input.newPassword, user.email);
  user.passwordHash = await hashPassword(input.newPassword);
  await em.flush();
  await endSessions(em, userId, input.sessionId);
  return user;
}

/**
 * Makes sure that there is an administrator: by `credentials` where given, which also claim one that still
 * waits for
 * it; else one that waits to be claimed. An administrator with a password is left alone.
 */
export async function seedAdmin(
  em: EntityManager,
  credentials: { email: string; password: string } | null,
): Promise<void> {
  const admins = { role: 'ADMIN', state: 'ACTIVE' } as const;
  if ((await em.count(UserSchema, { ...admins, passwordHash: { $ne: null } })) > 0) return;
  const passwordHash = credentials ? await hashPassword(credentials.password) : null;
  await inTransaction(em, async (inner) => {
    await query(inner, sql`select pg_advisory_xact_lock(hashtextextended('seed-admin', 0))`);
    const admin = await inner.findOne(UserSchema, admins, { orderBy: { createdAt: 'asc' } });
    if (admin) {
      if (credentials && !admin.passwordHash)
        Object.assign(admin, { email: credentials.email, passwordHash });
      return;
    }
    const user = inner.create(UserSchema, {
      id: newId('usr'),
      email: credentials?.email ?? UNCLAIMED_EMAIL,
      passwordHash,
      role: 'ADMIN',
      allowedGroups: ['default', 'vip', 'svip'],
    });
    await inner.flush();
    await ensureWallet(inner, user.id);
  });
}

/** The seeded administrator's user id, whether claimed or not. Throws where `seedAdmin` never ran. */
export async function firstAdminId(em: EntityManager): Promise<string> {
  const admin = await em.findOne(
    UserSchema,
    { role: 'ADMIN', state: 'ACTIVE' },
    { orderBy: { createdAt: 'asc' } },
  );
  if (!admin) throw new Error('There is no administrator.');
  return admin.id;
}

/**
 * A new single-use token that claims the seeded administrator's account within 24 hours, and makes earlier
 * ones void;
 * null once the account is claimed. The token belongs into the fragment of a link: /claim#<token>.
 */
export async function mintAdminClaim(em: EntityManager): Promise<{ token: string; expiresAt: Date } | null> {
  return inTransaction(em, async (inner) => {
    const admin = await inner.findOne(UserSchema, { role: 'ADMIN', state: 'ACTIVE', passwordHash: null });
    if (!admin || (await inner.count(UserSchema, { role: 'ADMIN', passwordHash: { $ne: null } })) > 0)
      return null;
    await inner.nativeDelete(AccountLinkSchema, { userId: admin.id, usedAt: null });
    return mintLink(inner, admin.id);
  });
}

/**
 * A single-use link of 24 hours with which a user sets address and password. The token exists in this result
 * alone.
 */
export async function mintLink(
  em: EntityManager,
  userId: string,
): Promise<{ token: string; expiresAt: Date }> {
  const token = issueSecret('gwl');
  const expiresAt = new Date(Date.now() + LINK_MS);
  em.create(AccountLinkSchema, {
    id: newId('lnk'),
    userId,
    tokenDigest: digestOf(token),
    expiresAt,
    usedAt: null,
  });
  await em.flush();
  return { token, expiresAt };
}

export interface Claim {
  token: string;
  email: string;
  password: string;
  acceptPolicyVersion: string;
}

/**
 * Gives an account its address and password by a single-use link. Throws CREDENTIALS_INVALID for a bad link.
 */
export async function claimAccount(em: EntityManager, input: Claim, origin: Origin): Promise<SignedIn> {
  const policy = await checkAcceptable(em, input.acceptPolicyVersion);
  checkPassword(input.password, input.email);
  await beginAttempt(em, { purpose: 'claim', email: null, ip: origin.ip });
  const passwordHash = await hashPassword(input.password);
  return inTransaction(em, async (inner) => {
    const user = await inner.findOneOrFail(UserSchema, { id: await useLink(inner, input.token) });
    Object.assign(user, { email: input.email, passwordHash });
    await inner.flush().catch(onTaken);
    await accept(inner, { user, policy, ip: origin.ip });
    await endSessions(inner, user.id);
    // Who may choose the address has the account: an app that is lost must not lock its owner out.
    await removeTotp(inner, user.id);
    return { user, ...(await openSession(inner, user, { ...origin, remember: true })) };
  });
}

/**
 * Sets the password of an account in use by a single-use link, ends its sessions and opens a new one. Address
 * and second factor stay: with a second factor the result is null and the user signs in with it. Throws
 * CREDENTIALS_INVALID for a bad link, PASSWORD_WEAK.
 */
export async function resetPassword(
  em: EntityManager,
  input: { token: string; newPassword: string },
  origin: Origin,
): Promise<SignedIn | null> {
  await beginAttempt(em, { purpose: 'claim', email: null, ip: origin.ip });
  const passwordHash = await hashPassword(input.newPassword);
  return inTransaction(em, async (inner) => {
    const user = await inner.findOneOrFail(UserSchema, { id: await useLink(inner, input.token) });
    if (!user.passwordHash || user.state !== 'ACTIVE') throw badLink();
    checkPassword(input.newPassword, user.email);
    user.passwordHash = passwordHash;
    await inner.flush();
    await endSessions(inner, user.id);
    if ((await factorsOf(inner, user.id)).totpEnabled) return null;
    return { user, ...(await openSession(inner, user, { ...origin, remember: true })) };
  });
}

/** The user, for a page of their own. Throws where the row is gone. */
export function userById(em: EntityManager, id: string): Promise<UserRow> {
  return em.findOneOrFail(UserSchema, { id });
}

/** Takes the link out of use and says whose it is, in the transaction of what it allows. */
async function useLink(em: EntityManager, token: string): Promise<string> {
  const used = await query<{ user_id: string }>(
    em,
    sql`update account_link set used_at = now()
    where token_digest = ${digestOf(token)} and used_at is null and expires_at > now()
    returning user_id`,
  );
  const userId = used[0]?.user_id;
  if (!userId) throw badLink();
  return userId;
}

function badLink(): UserFailure {
  const message = 'This link was used already or is too old. Ask for a new one.';
  return new UserFailure('CREDENTIALS_INVALID', message, 'token');
}

/** A name without spaces around it; null for none. Throws INVALID for one that is too long. */
export function nameOf(name: string | null | undefined): string | null {
  const trimmed = name?.trim() || null;
  if (trimmed && trimmed.length > NAME_LENGTH_MAX) {
    throw new UserFailure('INVALID', `A name has at most ${NAME_LENGTH_MAX} characters.`, 'displayName');
  }
  return trimmed;
}

function taken(): UserFailure {
  return new UserFailure('TAKEN', 'There is an account with this address already. Sign in instead.', 'email');
}

function onTaken(error: unknown): never {
  if (error instanceof Error && error.name === 'UniqueConstraintViolationException') throw taken();
  throw error;
}
