/** Changes a user's own profile (name, language, time zone, notifications), and closes accounts. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../audit/audit.service.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { forgetMail } from '../mail/mail.service.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { announceAccount } from '../wallet/account.record.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { requireActiveAdministrator } from './administrators.ts';
import { deleteContent } from '../intelligence/forget.service.ts';
import { lockItems } from '../intelligence/item.service.ts';
import { removeOtherCredentials } from './other-credentials.ts';
import { LOCALES, displayNameOf } from './registration.service.ts';
import { endSessions } from './session.service.ts';

/** Which optional mails the user gets. */
interface Notifications {
  poolExpiry?: boolean | null;
  paymentReceipts?: boolean | null;
  storefrontOpening?: boolean | null;
}

/** Changes of a profile. Members that are undefined stay unchanged. */
export interface ProfileChange {
  displayName?: string | null;
  locale?: string | null;
  timeZone?: string | null;
  notifications?: Notifications | null;
}

/** Applies the given changes; a `displayName` of null removes the name. Throws INVALID. */
export async function updateProfile(em: EntityManager, id: string, change: ProfileChange): Promise<UserRow> {
  const user = await em.findOneOrFail(UserSchema, { id });
  if (change.displayName !== undefined) user.displayName = displayNameOf(change.displayName);
  if (change.locale) user.locale = localeOf(change.locale);
  if (change.timeZone) user.timeZone = timeZoneOf(change.timeZone);
  user.notifyPoolExpiry = change.notifications?.poolExpiry ?? user.notifyPoolExpiry;
  user.notifyPaymentReceipts = change.notifications?.paymentReceipts ?? user.notifyPaymentReceipts;
  user.notifyStorefront = change.notifications?.storefrontOpening ?? user.notifyStorefront;
  await em.flush();
  return user;
}

/**
 * Closes the account permanently: deletes address, name, password and chats, ends sessions and tokens, stops
 * pool renewals, and makes nodes refuse its keys. Usage log and ledger stay for bookkeeping. Throws CONFLICT
 * for the last administrator.
 */
export async function deleteAccount(em: EntityManager, id: string, actor: Actor): Promise<void> {
  await inTransaction(em, async (inner) => {
    // Before the lock of the audit log: every transaction takes the two in this order.
    await lockItems(inner, id);
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
    await requireActiveAdministrator(inner);
    await audit(inner, {
      // The audit log must not keep the address of a deleted user.
      actor: { ...actor, label: email },
      action: 'user.delete',
      targetType: 'User',
      targetId: id,
      reason: 'Requested by the owner.',
    });
    await endSessions(inner, id);
    await removeOtherCredentials(inner, id);
    await query(inner, sql`delete from account_link where user_id = ${id}`);
    // A pool serves until the end of its paid period, but is not renewed.
    await query(inner, sql`update pools set auto_renew = false where owner_id = ${id}`);
    await query(inner, sql`delete from sign_in_place where user_id = ${id}`);
    await query(inner, sql`delete from data_export where user_id = ${id}`);
    await query(inner, sql`delete from webhook_endpoint where owner_id = ${id}`);
    // Without a switch nothing is stored again.
    await deleteContent(inner, id);
    await query(inner, sql`delete from personal_switch where user_id = ${id}`);
    await announceAccount(inner, await ensureWallet(inner, id), { closed: true });
  });
}

function localeOf(locale: string): string {
  if (LOCALES.includes(locale)) return locale;
  throw new UserFailure('INVALID', `Unsupported language. Choose one of ${LOCALES.join(', ')}.`, 'locale');
}

function timeZoneOf(timeZone: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    throw new UserFailure(
      'INVALID',
      'Unknown time zone. Choose an IANA time zone such as Europe/Vienna.',
      'timeZone',
    );
  }
}
