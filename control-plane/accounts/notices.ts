/** Notifies owners by mail of events of their accounts, and records where they sign in. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { enqueueMail } from '../mail/mail.service.ts';
import { queryOne, sql } from '../database/sql.ts';
import type { UserRow } from './account.entity.ts';
import { recordPlace } from './known-places.ts';
import type { Place } from './known-places.ts';
import { mailLocaleOf, noticeText } from './mail.texts.ts';
import type { NoticeKind } from './mail.texts.ts';

/** An event of an account. */
export interface AccountEvent {
  kind: NoticeKind;
  ip: string | null;
  /** Recipient, if it is not the current address of the account. */
  to?: string;
}

/**
 * Queues a notice in the caller's transaction, in the owner's language and time zone. Owners cannot switch
 * these notices off. Does nothing if this installation sends no mail.
 */
export async function notifyOwner(
  em: EntityManager,
  user: UserRow,
  { kind, ip, to }: AccountEvent,
): Promise<void> {
  const outlet = await queryOne<{ console_url: string }>(em, sql`select console_url from mail_outlet`);
  if (!outlet) return;
  const locale = mailLocaleOf(user.locale);
  const at = new Intl.DateTimeFormat(locale, {
    dateStyle: 'long',
    timeStyle: 'long',
    timeZone: user.timeZone,
  }).format(new Date());
  const text = noticeText(kind, locale, { at, ip, link: `${outlet.console_url}/profile/security` });
  await enqueueMail(em, { to: to ?? user.email, ...text });
}

/**
 * Records the network and device of a sign-in, and notifies the owner if the network is new. The first
 * network of an account is recorded without a notice.
 */
export async function recordSignInPlace(em: EntityManager, user: UserRow, place: Place): Promise<void> {
  if (await recordPlace(em, user.id, place))
    await notifyOwner(em, user, { kind: 'NEW_NETWORK', ip: place.ip });
}
