/** New passwords by links: those that are mailed, and those that an administrator hands over. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../errors.ts';
import { enqueueLetter } from '../mail/mail.service.ts';
import { inTransaction } from '../sql.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { beginAttempt } from './attempts.ts';
import { factorsOf } from './factor.service.ts';
import { badLink, mintLink, useLink, voidLinks } from './link.service.ts';
import type { LinkPurpose } from './link.service.ts';
import { notify } from './notices.ts';
import { removeOtherWays } from './other-ways.ts';
import { checkPassword, hashPassword } from './password.ts';
import { endSessions, openSession } from './session.service.ts';
import type { Origin, SignedIn } from './session.service.ts';

/**
 * Mails a link to whoever has an account with this address, and does the same work where nobody has: who
 * it is is looked up when the letter is sent. Throws CONFLICT where no mail is sent here, RATE_LIMITED.
 */
export async function requestReset(em: EntityManager, email: string, { ip }: Origin): Promise<void> {
  await beginAttempt(em, { purpose: 'mail', email, ip });
  if (!(await enqueueLetter(em, { to: email, letter: 'reset', about: {} }))) throw noMail();
}

/** The failure of everything that needs mail where none is sent. */
export function noMail(): UserFailure {
  return new UserFailure('CONFLICT', 'No mail is sent here. Ask an administrator for a link instead.');
}

/** A fresh link for the account with this address; earlier ones are void. Null where nobody may have one. */
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
    const { userId, purpose } = await useLink(inner, input.token, ['CLAIM', 'RESET']);
    const user = await inner.findOneOrFail(UserSchema, { id: userId });
    if (!isInUse(user) || user.state !== 'ACTIVE') throw badLink();
    checkPassword(input.newPassword, user.email);
    await takeOver(inner, user, purpose);
    user.passwordHash = passwordHash;
    await inner.flush();
    await endSessions(inner, user.id);
    await voidLinks(inner, user.id, ['RESET']);
    await notify(inner, user, { kind: 'PASSWORD_RESET', ip: origin.ip });
    if ((await factorsOf(inner, user.id)).totpEnabled) return null;
    return { user, ...(await openSession(inner, user, { ...origin, remember: true })) };
  });
}

/**
 * A mailed link proves the address. Where nobody had proven it before, whoever made the account may not have
 * been its owner: every other way in that was laid then is taken away.
 */
async function takeOver(em: EntityManager, user: UserRow, purpose: LinkPurpose): Promise<void> {
  if (purpose !== 'RESET' || user.emailVerifiedAt) return;
  user.emailVerifiedAt = new Date();
  await removeOtherWays(em, user.id);
}

/** Whether somebody uses the account: one that was only made for somebody is claimed, not reset. */
export function isInUse(user: UserRow): boolean {
  return Boolean(user.passwordHash ?? user.emailVerifiedAt);
}
