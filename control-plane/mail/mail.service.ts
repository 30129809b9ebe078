/**
 * The outbox of e-mail: a mail is queued, sealed, in the transaction of the event that it reports, and sent
 * by the mailer after the commit. Without SMTP_URL nothing is queued.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { seal } from '@gateway/shared/sealing';
import { digestOf } from '@gateway/shared/secrets';
import { newId } from '../database/ids.ts';
import type { Settings } from '../process/settings.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { publicMailKey } from './mail.key.ts';

const SUBJECT_LENGTH_MAX = 200;
const TEXT_LENGTH_MAX = 20_000;
/** Maximum number of queued mails; further ones are dropped. Limits the table if the mail server is down. */
const QUEUED_MAX = 10_000;

/** One mail in plain text. */
export interface Mail {
  /** An e-mail address, as the API validates it. */
  to: string;
  subject: string;
  text: string;
}

/**
 * A mail that is composed only when it is sent: the request neither waits for nor reveals what the text
 * depends on, such as whether an account exists. The member names are stored in queued mails.
 */
export interface DeferredMail {
  to: string;
  /** Name of the composer. */
  letter: string;
  /** Input of the composer: ids, never a secret. */
  about: Readonly<Record<string, string>>;
}

/**
 * Stores whether this installation sends mail, the key that seals it and the address that its links lead to.
 * Call it at each start, once the console's address is known.
 */
export async function announceMail(
  em: EntityManager,
  { smtpUrl, secretKey, consoleUrl }: Pick<Settings, 'smtpUrl' | 'secretKey' | 'consoleUrl'>,
): Promise<void> {
  if (!smtpUrl) return void (await query(em, sql`delete from mail_outlet`));
  await query(
    em,
    sql`insert into mail_outlet (public_key, console_url) values (${publicMailKey(secretKey)}, ${consoleUrl})
    on conflict (only_one) do update
    set public_key = excluded.public_key, console_url = excluded.console_url`,
  );
}

/**
 * Queues a mail in the caller's transaction; it is sent only if that commits. Returns false, and queues
 * nothing, if this installation sends no mail or the queue is full.
 */
export function enqueueMail(transaction: EntityManager, { to, subject, text }: Mail): Promise<boolean> {
  const line = subject.replace(/\s+/g, ' ').trim().slice(0, SUBJECT_LENGTH_MAX);
  return enqueue(transaction, { to, subject: line, text: text.slice(0, TEXT_LENGTH_MAX) });
}

/** Queues a deferred mail like `enqueueMail`. The composer decides on the final recipient. */
export function enqueueDeferredMail(transaction: EntityManager, mail: DeferredMail): Promise<boolean> {
  return enqueue(transaction, mail);
}

/** Deletes the queued mails to an address. */
export async function forgetMail(em: EntityManager, to: string): Promise<void> {
  await query(em, sql`delete from mail_outbox where recipient_digest = ${digestOf(to)}`);
}

async function enqueue(em: EntityManager, item: Mail | DeferredMail): Promise<boolean> {
  const outlet = await queryOne<{ public_key: string }>(em, sql`select public_key from mail_outlet`);
  if (!outlet) return false;
  const id = newId('mai');
  const sealed = seal(JSON.stringify(item), outlet.public_key, id);
  const row = await queryOne(
    em,
    sql`insert into mail_outbox (id, recipient_digest, sealed)
    select ${id}, ${digestOf(item.to)}, ${sealed}
    where (select count(*) from (select from mail_outbox limit ${QUEUED_MAX}) as queued) < ${QUEUED_MAX}
    returning id`,
  );
  return row !== undefined;
}
