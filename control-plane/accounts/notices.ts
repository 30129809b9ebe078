/** Tells owners what happened to their accounts, and remembers from where they sign in. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf } from '@gateway/shared/secrets';
import { enqueueMail } from '../mail/mail.service.ts';
import { networkOf } from '../network.ts';
import { query, queryOne, sql } from '../sql.ts';
import type { UserRow } from './account.entity.ts';
import { mailLocaleOf, noticeWords } from './mail.texts.ts';
import type { NoticeKind } from './mail.texts.ts';

/** Places that were not used for so long count as new again. */
export const PLACE_DAYS = 180;

/** Something that happened to an account. */
export interface Happening {
  kind: NoticeKind;
  ip: string | null;
  /** Where it was told to before an address changed; else the account's own address. */
  to?: string;
}

/**
 * Queues the notice in the caller's transaction, in the owner's language and time zone. Notices that
 * concern the safety of an account cannot be switched off. Nothing where no mail is sent here.
 */
export async function notify(em: EntityManager, user: UserRow, { kind, ip, to }: Happening): Promise<void> {
  const outlet = await queryOne<{ console_url: string }>(em, sql`select console_url from mail_outlet`);
  if (!outlet) return;
  const locale = mailLocaleOf(user.locale);
  const at = new Intl.DateTimeFormat(locale, {
    dateStyle: 'long',
    timeStyle: 'long',
    timeZone: user.timeZone,
  }).format(new Date());
  const words = noticeWords(kind, locale, { at, ip, link: `${outlet.console_url}/profile/security` });
  await enqueueMail(em, { to: to ?? user.email, ...words });
}

/** Remembers the place of a sign-in, and tells the owner of one that is new. The first one is no news. */
export async function rememberPlace(em: EntityManager, user: UserRow, ip: string | null): Promise<void> {
  if (!ip) return;
  const digest = digestOf(`${user.id} ${networkOf(ip)}`);
  await query(
    em,
    sql`delete from sign_in_place where user_id = ${user.id}
    and last_at < now() - ${PLACE_DAYS}::integer * interval '1 day'`,
  );
  const known = await query<{ digest: string }>(
    em,
    sql`select digest from sign_in_place where user_id = ${user.id}`,
  );
  await query(
    em,
    sql`insert into sign_in_place (user_id, digest) values (${user.id}, ${digest})
    on conflict (user_id, digest) do update set last_at = now()`,
  );
  if (known.length > 0 && !known.some((place) => place.digest === digest))
    await notify(em, user, { kind: 'NEW_PLACE', ip });
}
