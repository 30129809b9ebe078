/**
 * The outbox: mail is written in the transaction of what it tells of, sealed, and sent by the post
 * afterwards. Without SMTP_URL nothing is ever written.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { seal } from '@gateway/shared/sealing';
import { digestOf } from '@gateway/shared/secrets';
import { newId } from '../ids.ts';
import type { Settings } from '../settings.ts';
import { query, queryOne, sql } from '../sql.ts';
import { publicMailKey } from './mail.key.ts';

const SUBJECT_LENGTH_MAX = 200;
const TEXT_LENGTH_MAX = 20_000;
/** Letters that wait; beyond them new ones are dropped, for the server is gone or somebody floods us. */
const WAITING_MAX = 10_000;

/** One mail in plain text. */
export interface Mail {
  /** An address of the form that the API accepts. */
  to: string;
  subject: string;
  text: string;
}

/**
 * A mail that is only composed when it is sent: what a request must not take the time to find out, or must
 * not let its asker see. `letter` names the composer.
 */
export interface Letter {
  to: string;
  letter: string;
  /** What the composer needs: ids, never a secret. */
  about: Readonly<Record<string, string>>;
}

/**
 * Says in the database whether mail can be sent here, with which key it is sealed and where its links lead.
 * Runs at each start, once the console's address is known.
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
 * Queues a mail in the caller's transaction: it is sent when that commits and never when it is rolled back.
 * False where this installation sends no mail, or more wait than may; nothing is queued then.
 */
export function enqueueMail(transaction: EntityManager, { to, subject, text }: Mail): Promise<boolean> {
  const line = subject.replace(/\s+/g, ' ').trim().slice(0, SUBJECT_LENGTH_MAX);
  return enqueue(transaction, { to, subject: line, text: text.slice(0, TEXT_LENGTH_MAX) });
}

/** Queues a letter, likewise; who it goes to in the end is the composer's decision. */
export function enqueueLetter(transaction: EntityManager, letter: Letter): Promise<boolean> {
  return enqueue(transaction, letter);
}

/** Takes back what waits for an address. */
export async function forgetMail(em: EntityManager, to: string): Promise<void> {
  await query(em, sql`delete from mail_outbox where recipient_digest = ${digestOf(to)}`);
}

async function enqueue(em: EntityManager, item: Mail | Letter): Promise<boolean> {
  const outlet = await queryOne<{ public_key: string }>(em, sql`select public_key from mail_outlet`);
  if (!outlet) return false;
  const id = newId('mai');
  const sealed = seal(JSON.stringify(item), outlet.public_key, id);
  const row = await queryOne(
    em,
    sql`insert into mail_outbox (id, recipient_digest, sealed)
    select ${id}, ${digestOf(item.to)}, ${sealed}
    where (select count(*) from (select from mail_outbox limit ${WAITING_MAX}) as waiting) < ${WAITING_MAX}
    returning id`,
  );
  return row !== undefined;
}
