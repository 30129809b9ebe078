/** Resets passwords by single-use links, which are mailed or created by an administrator. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../graphql/errors.ts';
import { enqueueDeferredMail } from '../mail/mail.service.ts';
import { inTransaction } from '../database/sql.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { countAction } from './rate-limits.ts';
import { factorsOf } from './factor.service.ts';
import { invalidLink, mintLink, useLink, voidLinks } from './link.service.ts';
import { notifyOwner } from './notices.ts';
import { removeOtherCredentials } from './other-credentials.ts';
import { anonymousAt } from '../request/callers.ts';
import { checkPassword, hashPassword } from './password.ts';
import { endSessions, openSession } from './session.service.ts';
import type { Origin, SignedIn } from './session.service.ts';

/**
 * Queues a mail with a reset link. Does the same work whether or not the address has an account, which is
 * looked up only when the mail is sent. Throws CONFLICT if this installation sends no mail, RATE_LIMITED.
 */
export async function requestReset(em: EntityManager, email: string, { ip }: Origin): Promise<void> {
  await countAction(em, { purpose: 'mail', email, ip });
  if (!(await enqueueDeferredMail(em, { to: email, letter: 'reset', about: {} }))) throw mailUnavailable();
}

/** The failure of mutations that need mail, in an installation that sends none. */
export function mailUnavailable(): UserFailure {
  return new UserFailure('CONFLICT', 'This installation sends no mail. Ask an administrator for a link.');
}

/**
 * Creates a reset link for the account with this address and voids earlier ones. Null if there is no active
 * account, or one that was never used.
 */
export async function mintResetLink(
  em: EntityManager,
  email: string,
): Promise<{ user: UserRow; token: string } | null> {
  return inTransaction(em, async (inner) => {
    const user = await inner.findOne(UserSchema, { email, state: 'ACTIVE' });
    if (!user || !isInUse(user)) return null;
    await voidLinks(inner, user.id, ['RESET']);
    const { token } = await mintLink(inner, user.id, { purpose: 'RESET', email });
    return { user, token };
  });
}

/**
 * Sets the password of an account by a single-use link, ends its sessions, notifies the owner and opens a new
 * session. Returns null instead of a session if the account has a second factor, with which the user must
 * sign in. Throws CREDENTIALS_INVALID for an invalid link, PASSWORD_WEAK, PASSWORD_BREACHED, RATE_LIMITED.
 */
export async function resetPassword(
  em: EntityManager,
  input: { token: string; newPassword: string },
  origin: Origin,
): Promise<SignedIn | null> {
  await countAction(em, { purpose: 'claim', email: null, ip: origin.ip });
  const passwordHash = await hashPassword(input.newPassword, anonymousAt(origin.ip));
  return inTransaction(em, async (inner) => {
    const { userId, purpose } = await useLink(inner, input.token, ['CLAIM', 'RESET']);
    const user = await inner.findOneOrFail(UserSchema, { id: userId });
    if (!isInUse(user) || user.state !== 'ACTIVE') throw invalidLink();
    checkPassword(input.newPassword, user.email);
    if (purpose === 'RESET') await verifyAddress(inner, user);
    user.passwordHash = passwordHash;
    await inner.flush();
    await endSessions(inner, user.id);
    await voidLinks(inner, user.id, ['RESET']);
    await notifyOwner(inner, user, { kind: 'PASSWORD_RESET', ip: origin.ip });
    if ((await factorsOf(inner, user.id)).totpEnabled) return null;
    return { user, ...(await openSession(inner, user, { ...origin, remember: true })) };
  });
}

/**
 * Marks the address as verified, as a mailed link proves it. If it was not verified before, somebody else may
 * have created the account: removes all other credentials.
 */
async function verifyAddress(em: EntityManager, user: UserRow): Promise<void> {
  if (user.emailVerifiedAt) return;
  user.emailVerifiedAt = new Date();
  await removeOtherCredentials(em, user.id);
}

/**
 * Whether the account was ever used: it has a password or a verified address. Others are claimed, not reset.
 */
export function isInUse(user: UserRow): boolean {
  return Boolean(user.passwordHash ?? user.emailVerifiedAt);
}
