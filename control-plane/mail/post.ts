/** Sends what lies in the outbox: once over all processes, again after failures, and never for ever. */
import type { MikroORM } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { createTransport } from 'nodemailer';
import { unseal } from '@gateway/shared/sealing';
import { Counter } from 'prom-client';
import { registry } from '../metrics.ts';
import type { Settings } from '../settings.ts';
import { query, queryOne, sql } from '../sql.ts';
import { privateMailKey } from './mail.key.ts';
import type { Letter, Mail } from './mail.service.ts';

const POLL_MS = 1000;
/** A process that dies with a mail in hand loses it for so long; longer than one attempt may take. */
const IN_HAND_MS = 2 * 60_000;
const FIRST_PAUSE_MS = 30_000;
const PAUSE_MAX_MS = 60 * 60_000;
const ATTEMPTS_MAX = 12;
/** Older ones are dropped: a link in them works no more. */
const AGE_MAX_MS = 24 * 60 * 60_000;
/** Mails of one round. */
const ROUND_MAX = 100;
const CONNECT_MS = 10_000;
const SILENCE_MS = 30_000;
/** What a server says for good (RFC 5321 §4.2.1). */
const PERMANENT_FROM = 500;

const mails = new Counter({
  name: 'gateway_mails_total',
  help: 'Mails that left the outbox or were tried, by result.',
  labelNames: ['result'],
  registers: [registry],
});

/** Composes a letter at the moment it is sent; null where nobody is to get one. Links are made here. */
export type Composer = (em: EntityManager, letter: Letter) => Promise<Mail | null>;

export interface PostParts {
  /** Forked for each mail. */
  orm: Pick<MikroORM, 'em'> & { em: EntityManager };
  settings: Pick<Settings, 'smtpUrl' | 'mailFrom' | 'secretKey' | 'consoleUrl'>;
  compose: Composer;
  /** Lines without addresses, subjects and links. */
  log?: (line: Record<string, unknown>) => void;
}

interface Post {
  /** Sends what is due now and says how many mails left. */
  round(): Promise<number>;
  /** Ends the rounds, waits for the one under way and closes the connection. */
  stop(): Promise<void>;
}

/** Starts the rounds; without SMTP_URL there are none. */
export function startPost(parts: PostParts): Post {
  const { smtpUrl } = parts.settings;
  if (!smtpUrl) return { round: async () => 0, stop: async () => {} };
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const send = async (mail: Mail, id: string): Promise<void> => {
    const from = parts.settings.mailFrom ?? `no-reply@${new URL(parts.settings.consoleUrl).hostname}`;
    // A second delivery, after a crash between sending and deleting, carries the same id.
    const messageId = `<${id}@${from.split('@').pop()?.replace('>', '')}>`;
    await transport.sendMail({ from, messageId, to: mail.to, subject: mail.subject, text: mail.text });
  };
  let running: Promise<number> | undefined;
  const round = (): Promise<number> => {
    running ??= sendDue(parts, send).finally(() => {
      running = undefined;
    });
    return running;
  };
  const timer = setInterval(() => {
    round().catch((error: unknown) =>
      parts.log?.({ level: 'warn', message: 'Mail waits.', ...reasonOf(error) }),
    );
  }, POLL_MS);
  return {
    round,
    stop: async () => {
      clearInterval(timer);
      await running?.catch(() => 0);
      transport.close();
    },
  };
}

async function sendDue(parts: PostParts, send: (mail: Mail, id: string) => Promise<void>): Promise<number> {
  let sent = 0;
  for (let count = 0; count < ROUND_MAX; count += 1) {
    const em = parts.orm.em.fork();
    const row = await take(em);
    if (!row) break;
    try {
      if (await deliver(em, parts, { row, send })) sent += 1;
      await query(em, sql`delete from mail_outbox where id = ${row.id}`);
    } catch (error) {
      await postpone(em, parts, { row, error });
    }
  }
  return sent;
}

interface Row {
  id: string;
  sealed: string;
  attempts: number;
  is_old: boolean;
}

/**
 * Takes the next mail in hand, so that no other process takes it, without holding a lock while it is sent.
 */
function take(em: EntityManager): Promise<Row | undefined> {
  return queryOne<Row>(
    em,
    sql`update mail_outbox set attempts = attempts + 1,
      next_at = now() + ${IN_HAND_MS}::float8 * interval '1 ms'
    where id = (select id from mail_outbox where next_at <= now() order by next_at
      for update skip locked limit 1)
    returning id, sealed, attempts, created_at < now() - ${AGE_MAX_MS}::float8 * interval '1 ms' as is_old`,
  );
}

interface Delivery {
  row: Row;
  send: (mail: Mail, id: string) => Promise<void>;
}

async function deliver(em: EntityManager, parts: PostParts, { row, send }: Delivery): Promise<boolean> {
  if (row.is_old) {
    mails.inc({ result: 'dropped' });
    return false;
  }
  const item = parsed(unseal(row.sealed, privateMailKey(parts.settings.secretKey), row.id));
  const mail = 'letter' in item ? await parts.compose(em, item) : item;
  if (!mail) return false;
  await send(mail, row.id);
  mails.inc({ result: 'sent' });
  return true;
}

/** Later again, or never: what the server refuses for good is dropped. */
async function postpone(
  em: EntityManager,
  parts: PostParts,
  { row, error }: { row: Row; error: unknown },
): Promise<void> {
  const isFinal = row.attempts >= ATTEMPTS_MAX || isPermanent(error);
  mails.inc({ result: isFinal ? 'dropped' : 'failed' });
  parts.log?.({
    level: 'warn',
    message: isFinal ? 'A mail was given up.' : 'A mail could not be sent yet.',
    mail: row.id,
    attempts: row.attempts,
    ...reasonOf(error),
  });
  if (isFinal) return void (await query(em, sql`delete from mail_outbox where id = ${row.id}`));
  const pause = Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** (row.attempts - 1));
  await query(
    em,
    sql`update mail_outbox set next_at = now() + ${pause}::float8 * interval '1 ms' where id = ${row.id}`,
  );
}

/** We wrote it ourselves: what does not parse was sealed by somebody else and is a failure. */
function parsed(text: string): Mail | Letter {
  return JSON.parse(text) as Mail | Letter;
}

function isPermanent(error: unknown): boolean {
  const status = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0;
  // 535 and its like speak of our own credentials: the operator mends those.
  return status >= PERMANENT_FROM && !(error instanceof Error && 'code' in error && error.code === 'EAUTH');
}

/** Codes alone: a server's own words may quote an address. */
function reasonOf(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { reason: 'unknown' };
  const status = 'responseCode' in error ? error.responseCode : undefined;
  return { reason: 'code' in error ? error.code : error.name, status };
}
