/** Proving that an address is one's own: after registering, later, and before it is changed. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../errors.ts';
import { enqueueLetter } from '../mail/mail.service.ts';
import { inTransaction } from '../sql.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { beginAttempt } from './attempts.ts';
import { badLink, useLink, voidLinks } from './link.service.ts';
import type { UsedLink } from './link.service.ts';
import { notify } from './notices.ts';
import { finishRegistration, onTaken } from './registration.service.ts';
import { noMail } from './reset.service.ts';
import type { Origin, SignedIn } from './session.service.ts';

/** Mails a link that proves the present address. Throws CONFLICT where it is proven or no mail is sent. */
export async function requestVerification(em: EntityManager, userId: string, { ip }: Origin): Promise<void> {
  const user = await em.findOneOrFail(UserSchema, { id: userId });
  if (user.emailVerifiedAt) throw new UserFailure('CONFLICT', 'This address is verified already.');
  await beginAttempt(em, { purpose: 'mail', email: user.email, ip });
  const letter = { to: user.email, letter: 'verify', about: { user: userId } };
  if (!(await enqueueLetter(em, letter))) throw noMail();
}

/**
 * Mails a link to a new address, which takes the old one's place once the link is used. Says nothing of
 * whether somebody has that address. Throws CONFLICT where it is the present one or no mail is sent,
 * RATE_LIMITED.
 */
export async function requestEmailChange(
  em: EntityManager,
  change: { userId: string; email: string },
  { ip }: Origin,
): Promise<void> {
  const user = await em.findOneOrFail(UserSchema, { id: change.userId });
  if (user.email === change.email)
    throw new UserFailure('CONFLICT', 'This is the address of your account already.', 'email');
  // Counted for both: neither may one account mail to many, nor many accounts to one.
  await beginAttempt(em, { purpose: 'mail', email: user.email, ip });
  await beginAttempt(em, { purpose: 'mail', email: change.email, ip });
  const letter = { to: change.email, letter: 'change', about: { user: user.id } };
  if (!(await enqueueLetter(em, letter))) throw noMail();
}

/** Whose address was verified, and the session where the browser that registered gets one. */
export interface Verified {
  user: UserRow;
  signedIn: SignedIn | null;
}

/**
 * Does what a mailed link stands for: makes the registered account, marks the address as proven, or puts the
 * new one in the old one's place. Throws CREDENTIALS_INVALID for a bad link, TAKEN, RATE_LIMITED.
 */
export async function verifyEmail(
  em: EntityManager,
  token: string,
  browser: Origin & { browserToken: string | null },
): Promise<Verified> {
  await beginAttempt(em, { purpose: 'claim', email: null, ip: browser.ip });
  return inTransaction(em, async (inner) => {
    const registered = await finishRegistration(inner, token, browser);
    if (registered) return registered;
    const link = await useLink(inner, token, ['VERIFY', 'CHANGE']);
    return { user: await proveAddress(inner, link, browser.ip), signedIn: null };
  });
}

async function proveAddress(em: EntityManager, link: UsedLink, ip: string | null): Promise<UserRow> {
  const options = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const user = await em.findOneOrFail(UserSchema, { id: link.userId }, options);
  if (user.state !== 'ACTIVE' || !link.email) throw badLink();
  const old = user.email;
  if (link.purpose === 'VERIFY' && link.email !== old) throw badLink();
  Object.assign(user, { email: link.email, emailVerifiedAt: new Date() });
  await em.flush().catch(onTaken);
  if (link.purpose === 'VERIFY') return user;
  // Links that went to the old address, and changes to yet another one, are void.
  await voidLinks(em, user.id, ['RESET', 'VERIFY', 'CHANGE']);
  await notify(em, user, { kind: 'EMAIL_CHANGED', ip, to: old });
  return user;
}
