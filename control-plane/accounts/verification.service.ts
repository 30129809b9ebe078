/** Verifies e-mail addresses by mailed links: after registration, on request, and before a change. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../graphql/errors.ts';
import { enqueueDeferredMail } from '../mail/mail.service.ts';
import { inTransaction } from '../database/sql.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { countAction } from './rate-limits.ts';
import { invalidLink, useLink, voidLinks } from './link.service.ts';
import type { UsedLink } from './link.service.ts';
import { notifyOwner } from './notices.ts';
import { finishRegistration, rethrowAsTaken } from './registration.service.ts';
import { mailUnavailable } from './reset.service.ts';
import type { Origin, SignedIn } from './session.service.ts';

/**
 * Mails a link that verifies the user's address. Throws CONFLICT if it is verified already or this
 * installation sends no mail, RATE_LIMITED.
 */
export async function requestVerification(em: EntityManager, userId: string, { ip }: Origin): Promise<void> {
  const user = await em.findOneOrFail(UserSchema, { id: userId });
  if (user.emailVerifiedAt)
    throw new UserFailure('CONFLICT', 'Your address is verified already. Reload the page.');
  await countAction(em, { purpose: 'mail', email: user.email, ip });
  const letter = { to: user.email, letter: 'verify', about: { user: userId } };
  if (!(await enqueueDeferredMail(em, letter))) throw mailUnavailable();
}

/**
 * Mails a link to a new address, which replaces the old one when the link is used. Does not reveal whether
 * another account has the address. Throws CONFLICT if it is the current address or this installation sends
 * no mail, RATE_LIMITED.
 */
export async function requestEmailChange(
  em: EntityManager,
  change: { userId: string; email: string },
  { ip }: Origin,
): Promise<void> {
  const user = await em.findOneOrFail(UserSchema, { id: change.userId });
  if (user.email === change.email)
    throw new UserFailure('CONFLICT', 'Your account already has this address. Enter another one.', 'email');
  // Limits both addresses, so that neither one account mails many people nor many accounts mail one person.
  await countAction(em, { purpose: 'mail', email: user.email, ip });
  await countAction(em, { purpose: 'mail', email: change.email, ip });
  const letter = { to: change.email, letter: 'change', about: { user: user.id } };
  if (!(await enqueueDeferredMail(em, letter))) throw mailUnavailable();
}

/** The user whose address was verified, and a session if this browser registered the account. */
export interface Verified {
  user: UserRow;
  signedIn: SignedIn | null;
}

/**
 * Uses a mailed link: creates the registered account, marks the address as verified, or changes the address.
 * Throws CREDENTIALS_INVALID for an invalid link, TAKEN, RATE_LIMITED.
 */
export async function verifyEmail(
  em: EntityManager,
  token: string,
  browser: Origin & { browserToken: string | null },
): Promise<Verified> {
  await countAction(em, { purpose: 'claim', email: null, ip: browser.ip });
  return inTransaction(em, async (inner) => {
    const registered = await finishRegistration(inner, token, browser);
    if (registered) return registered;
    const link = await useLink(inner, token, ['VERIFY', 'CHANGE']);
    return { user: await applyLink(inner, link, browser.ip), signedIn: null };
  });
}

/** Marks the address of the link as verified, and changes the account's address for a CHANGE link. */
async function applyLink(em: EntityManager, link: UsedLink, ip: string | null): Promise<UserRow> {
  const options = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const user = await em.findOneOrFail(UserSchema, { id: link.userId }, options);
  if (user.state !== 'ACTIVE' || !link.email) throw invalidLink();
  const old = user.email;
  if (link.purpose === 'VERIFY' && link.email !== old) throw invalidLink();
  Object.assign(user, { email: link.email, emailVerifiedAt: new Date() });
  await em.flush().catch(rethrowAsTaken);
  if (link.purpose === 'VERIFY') return user;
  // Voids links that were mailed to the old address, and pending changes to other addresses.
  await voidLinks(em, user.id, ['RESET', 'VERIFY', 'CHANGE']);
  await notifyOwner(em, user, { kind: 'EMAIL_CHANGED', ip, to: old });
  return user;
}
