/** What users change about themselves: name, language, notices; and closing the account. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../audit/audit.service.ts';
import type { Actor } from '../context.ts';
import { UserFailure } from '../errors.ts';
import { forgetMail } from '../mail/mail.service.ts';
import { inTransaction, query, sql } from '../sql.ts';
import { announceAccount } from '../wallet/account.record.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { demandAdministrator } from './administrators.ts';
import { removeOtherWays } from './other-ways.ts';
import { LOCALES, nameOf } from './registration.service.ts';
import { endSessions } from './session.service.ts';

interface Notifications {
  poolExpiry?: boolean | null;
  paymentReceipts?: boolean | null;
  storefrontOpening?: boolean | null;
}

export interface ProfileChange {
  displayName?: string | null;
  locale?: string | null;
  timeZone?: string | null;
  notifications?: Notifications | null;
}

/** Changes what is given; a name of null is taken away. Throws INVALID. */
export async function updateProfile(em: EntityManager, id: string, change: ProfileChange): Promise<UserRow> {
  const user = await em.findOneOrFail(UserSchema, { id });
  if (change.displayName !== undefined) user.displayName = nameOf(change.displayName);
  if (change.locale) user.locale = localeOf(change.locale);
  if (change.timeZone) user.timeZone = timeZoneOf(change.timeZone);
  user.notifyPoolExpiry = change.notifications?.poolExpiry ?? user.notifyPoolExpiry;
  user.notifyPaymentReceipts = change.notifications?.paymentReceipts ?? user.notifyPaymentReceipts;
  user.notifyStorefront = change.notifications?.storefrontOpening ?? user.notifyStorefront;
  await em.flush();
  return user;
}

/**
 * Closes the account for good: address, name, password and chats are forgotten, sessions and tokens end, and
 * nodes refuse its keys. Usage log and ledger stay, as bookkeeping asks. Throws CONFLICT for the last
 * administrator.
 */
export async function deleteAccount(em: EntityManager, id: string, actor: Actor): Promise<void> {
  await inTransaction(em, async (inner) => {
    const user = await inner.findOneOrFail(UserSchema, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    await forgetMail(inner, user.email);
    await query(inner, sql`delete from pending_registration where email = ${user.email}`);
    const email = `${user.id.toLowerCase()}@deleted.invalid`;
    Object.assign(user, {
      state: 'DELETED',
      email,
      displayName: null,
      passwordHash: null,
      emailVerifiedAt: null,
    });
    await inner.flush();
    await demandAdministrator(inner);
    await audit(inner, {
      // The log keeps no address of somebody who asked to be forgotten.
      actor: { ...actor, label: email },
      action: 'user.delete',
      targetType: 'User',
      targetId: id,
      reason: 'Asked for by the owner.',
    });
    await endSessions(inner, id);
    await removeOtherWays(inner, id);
    await query(inner, sql`delete from account_link where user_id = ${id}`);
    // A pool serves until its paid end, and is not paid again.
    await query(inner, sql`update pools set auto_renew = false where owner_id = ${id}`);
    await query(inner, sql`delete from sign_in_place where user_id = ${id}`);
    await query(inner, sql`delete from data_export where user_id = ${id}`);
    // What hangs on a chat goes with it; without a switch nothing is stored again.
    await query(inner, sql`delete from conversation where user_id = ${id}`);
    await query(inner, sql`delete from personal_switch where user_id = ${id}`);
    await announceAccount(inner, await ensureWallet(inner, id), { closed: true });
  });
}

function localeOf(locale: string): string {
  if (LOCALES.includes(locale)) return locale;
  throw new UserFailure('INVALID', `Choose one of ${LOCALES.join(', ')}.`, 'locale');
}

function timeZoneOf(timeZone: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    throw new UserFailure('INVALID', 'Name an IANA time zone such as Europe/Vienna.', 'timeZone');
  }
}
