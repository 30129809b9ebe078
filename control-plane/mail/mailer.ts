/**
 * The mailer sends the queued mails of the outbox. One instance of the control plane at a time reserves a
 * mail. After a failure an instance tries again with exponential back-off, at most ATTEMPTS_MAX times.
 */
import type { MikroORM } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { createTransport } from 'nodemailer';
import { Counter } from 'prom-client';
import { registry } from '../process/metrics.ts';
import type { Settings } from '../process/settings.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { openMail } from './mail.key.ts';
import type { DeferredMail, Mail } from './mail.service.ts';

const POLL_MS = 1000;
/**
 * Time for which a mail is reserved for one process. A try takes less, otherwise another process sends the
 * mail a second time. If the process crashes, another process sends the mail after this time.
 */
const RESERVED_MS = 2 * 60_000;
/** Back-off after the first failure. Each further failure doubles it. */
const FIRST_BACKOFF_MS = 30_000;
const BACKOFF_MAX_MS = 60 * 60_000;
const ATTEMPTS_MAX = 12;
/** Maximum age of a mail. Older mails are dropped, because their links have expired. */
const AGE_MAX_MS = 24 * 60 * 60_000;
/** Maximum number of mails per round. */
const ROUND_MAX = 100;
const CONNECT_MS = 10_000;
const SOCKET_IDLE_MS = 30_000;
/** SMTP statuses from here on are permanent failures (RFC 5321 §4.2.1). */
const PERMANENT_FROM = 500;

const mails = new Counter({
  name: 'gateway_mails_total',
  help: 'Mails by result: sent, failed (will be retried) or dropped.',
  labelNames: ['result'],
  registers: [registry],
});

/**
 * Composes a deferred mail at the time of sending, with its links. Returns null if the mail must not be sent.
 */
export type Composer = (em: EntityManager, deferred: DeferredMail) => Promise<Mail | null>;

interface MailerParts {
  /** `em` is forked for each mail. */
  orm: Pick<MikroORM, 'em'> & { em: EntityManager };
  settings: Pick<Settings, 'smtpUrl' | 'mailFrom' | 'secretKey' | 'consoleUrl'>;
  compose: Composer;
  /** Receives log lines without addresses, subjects and links. */
  log?: (line: Record<string, unknown>) => void;
}

interface Mailer {
  /** Sends the mails that are due now, and returns how many were sent. */
  sendDue(): Promise<number>;
  /** Stops the timer, waits for the round in progress and closes the connection. */
  stop(): Promise<void>;
}

/** Starts sending every second; does nothing without SMTP_URL. */
export function startMailer(parts: MailerParts): Mailer {
  const { smtpUrl } = parts.settings;
  if (!smtpUrl) return { sendDue: async () => 0, stop: async () => {} };
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SOCKET_IDLE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const send = async (mail: Mail, id: string): Promise<void> => {
    const from = parts.settings.mailFrom ?? `no-reply@${new URL(parts.settings.consoleUrl).hostname}`;
    // A mail that is sent twice, because a process was killed, has the same Message-ID: servers can drop it.
    const messageId = `<${id}@${from.split('@').pop()?.replace('>', '')}>`;
    await transport.sendMail({ from, messageId, to: mail.to, subject: mail.subject, text: mail.text });
  };
  let running: Promise<number> | undefined;
  const sendDue = (): Promise<number> => {
    running ??= sendRound(parts, send).finally(() => {
      running = undefined;
    });
    return running;
  };
  const timer = setInterval(() => {
    sendDue().catch((error: unknown) =>
      parts.log?.({
        level: 'warn',
        message: 'A round of sending mails failed. The next round starts in a second.',
        ...reasonOf(error),
      }),
    );
  }, POLL_MS);
  return {
    sendDue,
    stop: async () => {
      clearInterval(timer);
      await running?.catch(() => 0);
      transport.close();
    },
  };
}

async function sendRound(
  parts: MailerParts,
  send: (mail: Mail, id: string) => Promise<void>,
): Promise<number> {
  let sent = 0;
  for (let count = 0; count < ROUND_MAX; count += 1) {
    const em = parts.orm.em.fork();
    const row = await reserveNext(em);
    if (!row) break;
    try {
      if (await deliver(em, parts, { row, send })) sent += 1;
    } catch (error) {
      await postpone(em, parts, { row, error });
      continue;
    }
    // If this fails, the mail was sent all the same, and is sent again when its reservation ends.
    await query(em, sql`delete from mail_outbox where id = ${row.id}`);
  }
  return sent;
}

interface Row {
  id: string;
  sealed: string;
  attempts: number;
  is_old: boolean;
}

/** Reserves the next due mail for this process. No lock is held while the mail is sent. */
function reserveNext(em: EntityManager): Promise<Row | undefined> {
  return queryOne<Row>(
    em,
    sql`update mail_outbox set attempts = attempts + 1,
      next_at = now() + ${RESERVED_MS}::float8 * interval '1 ms'
    where id = (select id from mail_outbox where next_at <= now() order by next_at
      for update skip locked limit 1)
    returning id, sealed, attempts, created_at < now() - ${AGE_MAX_MS}::float8 * interval '1 ms' as is_old`,
  );
}

interface Delivery {
  row: Row;
  send: (mail: Mail, id: string) => Promise<void>;
}

/** Sends one mail. Returns false if the mail is too old, which is counted, or must not be sent. */
async function deliver(em: EntityManager, parts: MailerParts, { row, send }: Delivery): Promise<boolean> {
  if (row.is_old) {
    mails.inc({ result: 'dropped' });
    return false;
  }
  const item = parsed(openMail(parts.settings.secretKey, row.sealed, row.id));
  const mail = 'letter' in item ? await parts.compose(em, item) : item;
  if (!mail) return false;
  await send(mail, row.id);
  mails.inc({ result: 'sent' });
  return true;
}

/** Schedules the next try, or drops the mail after a permanent SMTP failure or the last try. */
async function postpone(
  em: EntityManager,
  parts: MailerParts,
  { row, error }: { row: Row; error: unknown },
): Promise<void> {
  const isFinal = row.attempts >= ATTEMPTS_MAX || isPermanent(error);
  mails.inc({ result: isFinal ? 'dropped' : 'failed' });
  parts.log?.({
    level: 'warn',
    message: isFinal
      ? 'A mail was dropped after a permanent failure or the last try. See the reason; check SMTP_URL.'
      : 'A mail could not be sent. It will be sent again.',
    mail: row.id,
    attempts: row.attempts,
    ...reasonOf(error),
  });
  if (isFinal) return void (await query(em, sql`delete from mail_outbox where id = ${row.id}`));
  const pause = Math.min(BACKOFF_MAX_MS, FIRST_BACKOFF_MS * 2 ** (row.attempts - 1));
  await query(
    em,
    sql`update mail_outbox set next_at = now() + ${pause}::float8 * interval '1 ms' where id = ${row.id}`,
  );
}

/** Only this installation can seal a mail, so the content is trusted. Throws if it is not JSON. */
function parsed(text: string): Mail | DeferredMail {
  return JSON.parse(text) as Mail | DeferredMail;
}

function isPermanent(error: unknown): boolean {
  const status = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0;
  // EAUTH (e.g. 535) means wrong SMTP credentials. The operator can correct them before the last try, so the
  // failure counts as temporary.
  return status >= PERMANENT_FROM && !(error instanceof Error && 'code' in error && error.code === 'EAUTH');
}

/** Error codes without the server's text, which may quote an address. */
function reasonOf(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { reason: 'unknown' };
  const status = 'responseCode' in error ? error.responseCode : undefined;
  return { reason: 'code' in error ? error.code : error.name, status };
}
