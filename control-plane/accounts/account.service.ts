/** Signing in, changing the password, and claiming the first administrator's account. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { signInFailures } from '../metrics.ts';
import type { Credentials } from '../settings.ts';
import { inTransaction, query, sql } from '../sql.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';
import { AccountLinkSchema, UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { attemptSucceeded, beginAttempt } from './attempts.ts';
import { demandSecondFactor } from './factor.service.ts';
import type { SecondFactor } from './factor.service.ts';
import { mintLink, useLink, voidLinks } from './link.service.ts';
import type { MintedLink } from './link.service.ts';
import { notify } from './notices.ts';
import { removeOtherWays } from './other-ways.ts';
import { checkPassword, hashPassword, passwordMatches } from './password.ts';
import { accept, checkAcceptable } from './policy.service.ts';
import { onTaken } from './registration.service.ts';
import { endSessions, openSession } from './session.service.ts';
import type { Origin, SignedIn } from './session.service.ts';

/** The address of the seeded administrator until somebody claims the account. */
const UNCLAIMED_EMAIL = 'admin@localhost';

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

export interface PasswordChange {
  currentPassword: string;
  newPassword: string;
  /** The session that asks, which goes on. */
  sessionId: string;
  revokeOtherSessions: boolean;
  ip: string | null;
}

/**
 * Changes the password and ends all other sessions, unless these are to go on. Throws CREDENTIALS_INVALID,
 * PASSWORD_WEAK.
 */
export async function changePassword(
  em: EntityManager,
  userId: string,
  input: PasswordChange,
): Promise<UserRow> {
  const user = await em.findOneOrFail(UserSchema, { id: userId });
  const attempt = { purpose: 'sign-in' as const, email: user.email, ip: input.ip };
  await beginAttempt(em, attempt);
  if (!(await passwordMatches(user.passwordHash ?? null, input.currentPassword))) {
    throw new UserFailure('CREDENTIALS_INVALID', 'The current password is not right.', 'currentPassword');
  }
  await attemptSucceeded(em, attempt);
  checkPassword(input.newPassword, user.email);
  const passwordHash = await hashPassword(input.newPassword);
  return inTransaction(em, async (inner) => {
    const changed = await inner.findOneOrFail(UserSchema, { id: userId });
    changed.passwordHash = passwordHash;
    await inner.flush();
    if (input.revokeOtherSessions) await endSessions(inner, userId, input.sessionId);
    await voidLinks(inner, userId, ['RESET']);
    const kind = input.revokeOtherSessions ? 'PASSWORD_CHANGED' : 'PASSWORD_CHANGED_ALONE';
    await notify(inner, changed, { kind, ip: input.ip });
    return changed;
  });
}

/**
 * Makes sure that there is an administrator: by `credentials` where given, which also claim one that still
 * waits for it; else one that waits to be claimed. An administrator with a password is left alone. Throws
 * what is wrong with the password, as everybody else is told.
 */
export async function seedAdmin(em: EntityManager, credentials: Credentials | null): Promise<void> {
  const admins = { role: 'ADMIN', state: 'ACTIVE' } as const;
  if ((await em.count(UserSchema, { ...admins, passwordHash: { $ne: null } })) > 0) return;
  if (credentials) checkPassword(credentials.password, credentials.email);
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
export async function mintAdminClaim(em: EntityManager): Promise<MintedLink | null> {
  return inTransaction(em, async (inner) => {
    const admin = await inner.findOne(UserSchema, { role: 'ADMIN', state: 'ACTIVE', passwordHash: null });
    if (!admin || (await inner.count(UserSchema, { role: 'ADMIN', passwordHash: { $ne: null } })) > 0)
      return null;
    await inner.nativeDelete(AccountLinkSchema, { userId: admin.id, usedAt: null });
    return mintLink(inner, admin.id);
  });
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
    const { userId } = await useLink(inner, input.token, ['CLAIM']);
    const user = await inner.findOneOrFail(UserSchema, { id: userId });
    if (user.passwordHash) await notify(inner, user, { kind: 'PASSWORD_RESET', ip: origin.ip });
    // Nobody has proven the new address yet.
    const emailVerifiedAt = user.email === input.email ? user.emailVerifiedAt : null;
    Object.assign(user, { email: input.email, emailVerifiedAt, passwordHash });
    await inner.flush().catch(onTaken);
    await accept(inner, { user, policy, ip: origin.ip });
    await endSessions(inner, user.id);
    // Who may choose the address has the account: an app that is lost must not lock its owner out.
    await removeOtherWays(inner, user.id);
    return { user, ...(await openSession(inner, user, { ...origin, remember: true })) };
  });
}

/** The user, for a page of their own. Throws where the row is gone. */
export function userById(em: EntityManager, id: string): Promise<UserRow> {
  return em.findOneOrFail(UserSchema, { id });
}
