/** Signs in by password, changes passwords, and seeds and claims the first administrator's account. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { signInFailures } from '../process/metrics.ts';
import type { Credentials } from '../process/settings.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { anonymousAt } from '../request/callers.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';
import { AccountLinkSchema, UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { clearAfterSuccess, countAction } from './rate-limits.ts';
import { requireSecondFactor } from './factor.service.ts';
import type { SecondFactor } from './factor.service.ts';
import { knownPlace } from './known-places.ts';
import { invalidLink, mintLink, useLink, voidLinks } from './link.service.ts';
import type { MintedLink } from './link.service.ts';
import { notifyOwner } from './notices.ts';
import { removeOtherCredentials } from './other-credentials.ts';
import { checkPassword, hashPassword, passwordMatches } from './password.ts';
import { recordAcceptance, requireCurrentPolicy } from './policy.service.ts';
import { rethrowAsTaken } from './registration.service.ts';
import { endSessions, openSession } from './session.service.ts';
import type { Origin, SignedIn } from './session.service.ts';

/** Placeholder address of the seeded administrator until the account is claimed. */
const UNCLAIMED_EMAIL = 'admin@localhost';
/** The start of the process, as limits of hashes see it. */
const SEED = { rank: 'admin', name: 'start' } as const;

/**
 * Checks the credentials and opens a session. Throws CREDENTIALS_INVALID, with the same message and after the
 * same time for an unknown account and a wrong password; TOTP_REQUIRED if a second factor is missing;
 * RATE_LIMITED after too many failures.
 */
export async function signIn(
  em: EntityManager,
  input: { email: string; password: string; rememberMe: boolean } & SecondFactor,
  origin: Origin,
): Promise<SignedIn> {
  const user = await em.findOne(UserSchema, { email: input.email });
  const apart = await knownPlace(em, user?.id ?? null, origin);
  const action = { purpose: 'sign-in' as const, email: input.email, ip: origin.ip, apart };
  await countAction(em, action);
  const stored = user?.passwordHash ?? null;
  const matches = await passwordMatches(stored, input.password, anonymousAt(origin.ip));
  if (!user || !matches || user.state !== 'ACTIVE') {
    signInFailures.inc({ reason: 'credentials' });
    throw new UserFailure(
      'CREDENTIALS_INVALID',
      'Wrong e-mail address or password. Try again, or set a new password.',
    );
  }
  await requireSecondFactor(em, user.id, input);
  await clearAfterSuccess(em, action);
  return { user, ...(await openSession(em, user, { ...origin, remember: input.rememberMe })) };
}

/** A change of the password by its owner. */
export interface PasswordChange {
  currentPassword: string;
  newPassword: string;
  /** The caller's session, which stays open. */
  sessionId: string;
  revokeOtherSessions: boolean;
  ip: string | null;
}

/**
 * Changes the password, voids links for a new password, and ends all other sessions if
 * `revokeOtherSessions` is set. Returns the user. Throws CREDENTIALS_INVALID, PASSWORD_WEAK,
 * PASSWORD_BREACHED and RATE_LIMITED.
 */
export async function changePassword(
  em: EntityManager,
  userId: string,
  input: PasswordChange,
): Promise<UserRow> {
  const user = await em.findOneOrFail(UserSchema, { id: userId });
  const { sessionId, ip } = input;
  const action = { purpose: 'reauthenticate' as const, email: user.email, ip, apart: sessionId };
  await countAction(em, action);
  const claimant = { rank: 'user', name: userId } as const;
  if (!(await passwordMatches(user.passwordHash ?? null, input.currentPassword, claimant))) {
    throw new UserFailure(
      'CREDENTIALS_INVALID',
      'The current password is wrong. Try again.',
      'currentPassword',
    );
  }
  await clearAfterSuccess(em, action);
  checkPassword(input.newPassword, user.email);
  const passwordHash = await hashPassword(input.newPassword, claimant);
  return inTransaction(em, async (inner) => {
    const changed = await inner.findOneOrFail(UserSchema, { id: userId });
    changed.passwordHash = passwordHash;
    await inner.flush();
    if (input.revokeOtherSessions) await endSessions(inner, userId, input.sessionId);
    await voidLinks(inner, userId, ['RESET']);
    const kind = input.revokeOtherSessions ? 'PASSWORD_CHANGED' : 'PASSWORD_CHANGED_SESSIONS_KEPT';
    await notifyOwner(inner, changed, { kind, ip: input.ip });
    return changed;
  });
}

/**
 * Ensures that there is an administrator. With `credentials`, creates the account or claims the unclaimed
 * one; without, creates an account that is to be claimed. Does nothing if an administrator has a password.
 * Throws PASSWORD_WEAK or PASSWORD_BREACHED.
 */
export async function seedAdmin(em: EntityManager, credentials: Credentials | null): Promise<void> {
  const admins = { role: 'ADMIN', state: 'ACTIVE' } as const;
  if ((await em.count(UserSchema, { ...admins, passwordHash: { $ne: null } })) > 0) return;
  if (credentials) checkPassword(credentials.password, credentials.email);
  const passwordHash = credentials ? await hashPassword(credentials.password, SEED) : null;
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

/** User id of the oldest active administrator, claimed or not. Throws if there is none. */
export async function firstAdminId(em: EntityManager): Promise<string> {
  const admin = await em.findOne(
    UserSchema,
    { role: 'ADMIN', state: 'ACTIVE' },
    { orderBy: { createdAt: 'asc' } },
  );
  if (!admin) throw new Error('There is no administrator. Start the control plane once to create one.');
  return admin.id;
}

/**
 * Creates the token of a claim link for the seeded administrator's account, valid for 24 hours and one use,
 * and voids earlier ones. Returns null once the account is claimed. The link is /claim#<token>.
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

/** Token of a claim link with the new password of the account. */
export interface Claim {
  token: string;
  /** Address of the seeded administrator, who has none yet. */
  email?: string | null;
  password: string;
  acceptPolicyVersion: string;
}

/**
 * Sets the password of an account by a claim link, ends its sessions and opens a new one. The seeded
 * administrator chooses an address too. Throws CREDENTIALS_INVALID for an invalid link, POLICY_*,
 * PASSWORD_WEAK, PASSWORD_BREACHED, REQUIRED, INVALID for another address than that of the account, TAKEN,
 * RATE_LIMITED.
 */
export async function claimAccount(em: EntityManager, input: Claim, origin: Origin): Promise<SignedIn> {
  const policy = await requireCurrentPolicy(em, input.acceptPolicyVersion);
  await countAction(em, { purpose: 'claim', email: null, ip: origin.ip });
  const passwordHash = await hashPassword(input.password, anonymousAt(origin.ip));
  return inTransaction(em, async (inner) => {
    const { userId } = await useLink(inner, input.token, ['CLAIM']);
    const user = await inner.findOneOrFail(UserSchema, { id: userId });
    if (user.state !== 'ACTIVE') throw invalidLink();
    const email = claimedAddress(user, input.email);
    checkPassword(input.password, email);
    if (user.passwordHash) await notifyOwner(inner, user, { kind: 'PASSWORD_RESET', ip: origin.ip });
    Object.assign(user, { email, passwordHash });
    await inner.flush().catch(rethrowAsTaken);
    await recordAcceptance(inner, { user, policy, ip: origin.ip });
    await endSessions(inner, user.id);
    // The holder of a claim link owns the account: credentials of an earlier owner must not remain valid,
    // and a lost authenticator app must not lock the new owner out.
    await removeOtherCredentials(inner, user.id);
    return { user, ...(await openSession(inner, user, { ...origin, remember: true })) };
  });
}

/** The address of a claimed account: only the seeded administrator chooses it. Throws REQUIRED or INVALID. */
function claimedAddress(user: UserRow, chosen: string | null | undefined): string {
  if (user.email !== UNCLAIMED_EMAIL) {
    if (!chosen || chosen === user.email) return user.email;
    const message = 'This link is for an account with another address. Leave the address out.';
    throw new UserFailure('INVALID', message, 'email');
  }
  if (!chosen) throw new UserFailure('REQUIRED', 'Enter the address to sign in with.', 'email');
  return chosen;
}

/** The user with this id. Throws if there is none. */
export function userById(em: EntityManager, id: string): Promise<UserRow> {
  return em.findOneOrFail(UserSchema, { id });
}
