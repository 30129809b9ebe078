import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { startMailbox } from '../../test/control/mailbox.ts';
import type { Mailbox } from '../../test/control/mailbox.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { announceMail, enqueueDeferredMail, enqueueMail, forgetMail } from './mail.service.ts';
import { startMailer } from './mailer.ts';

const MAIL = { to: 'ann@example.com', subject: 'Your pool ends', text: 'See https://c.example/pools#secret' };

describe('a queued mail', () => {
  let mailbox: Mailbox;
  let test: TestApp;
  const logged: unknown[] = [];
  beforeAll(async () => {
    mailbox = await startMailbox();
    test = await startTestApp({
      env: { SMTP_URL: mailbox.url, MAIL_FROM: 'Gateway <post@gateway.example>' },
    });
  });
  afterAll(async () => {
    await test.close();
    await mailbox.close();
  });
  beforeEach(() => {
    mailbox.mails.length = 0;
    logged.length = 0;
  });

  const em = () => test.orm.em.fork();
  const mailer = () =>
    startMailer({
      orm: test.orm,
      settings: test.settings,
      compose: async (_em, { to, about }) =>
        about['name'] ? { to, subject: 'Hello', text: about['name'] } : null,
      log: (line) => logged.push(line),
    });
  const outbox = () => query<{ row: string }>(em(), sql`select mail_outbox::text as row from mail_outbox`);
  const makeDue = () => query(em(), sql`update mail_outbox set next_at = now()`);
  /** Sends the due mails with a mailer of its own. */
  async function round(): Promise<void> {
    const one = mailer();
    await one.sendDue();
    await one.stop();
  }

  it('is sent as plain text after its transaction commits, and then deleted', async () => {
    await expect(
      inTransaction(em(), async (inner) => {
        await enqueueMail(inner, MAIL);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await inTransaction(em(), (inner) => enqueueMail(inner, MAIL))).toBe(true);
    await round();
    expect(mailbox.mails).toMatchObject([MAIL]);
    expect(mailbox.mails[0]?.headers).toContain('From: Gateway <post@gateway.example>');
    expect(mailbox.mails[0]?.headers).not.toMatch(/text\/html/);
    expect(await outbox()).toEqual([]);
  });

  it('keeps Chinese text intact, and a line break in its subject adds no header', async () => {
    await enqueueMail(em(), { to: MAIL.to, subject: '您的专用池\r\nBcc: spy@example.com', text: '请查看' });
    await round();
    expect(mailbox.mails).toMatchObject([{ subject: '您的专用池 Bcc: spy@example.com', text: '请查看' }]);
    expect(mailbox.mails[0]?.headers).not.toMatch(/^Bcc:/m);
  });

  it('is sealed: neither its address nor its text can be read from the database', async () => {
    await enqueueMail(em(), MAIL);
    const [row] = await outbox();
    expect(row?.row).not.toMatch(/ann@|pool|secret/);
    await round();
  });

  it('is sent once when two processes run at the same time', async () => {
    for (let at = 0; at < 20; at += 1) await enqueueMail(em(), { ...MAIL, subject: `Mail ${at}` });
    await Promise.all([round(), round()]);
    const subjects = mailbox.mails.map(({ subject }) => subject);
    expect(subjects).toHaveLength(20);
    expect(new Set(subjects).size).toBe(20);
  });

  it('is retried after a temporary refusal and dropped after a permanent one', async () => {
    await enqueueMail(em(), MAIL);
    mailbox.refusals.push(451, 550);
    await round();
    await round();
    expect(await outbox()).toHaveLength(1);
    await makeDue();
    await round();
    expect(await outbox()).toEqual([]);
    expect(mailbox.mails).toEqual([]);
    expect(logged).toMatchObject([{ status: 451 }, { status: 550 }]);
    expect(JSON.stringify(logged)).not.toMatch(/ann@|pool|secret/);
  });

  it('is dropped after a day, when its links have expired', async () => {
    await enqueueMail(em(), MAIL);
    await query(em(), sql`update mail_outbox set created_at = now() - interval '25 hours'`);
    await round();
    expect([mailbox.mails, await outbox()]).toEqual([[], []]);
  });

  it('is composed when it is sent if it is deferred, and dropped if the composer returns none', async () => {
    await enqueueDeferredMail(em(), { to: MAIL.to, letter: 'hello', about: { name: 'Ann' } });
    await enqueueDeferredMail(em(), { to: MAIL.to, letter: 'hello', about: {} });
    await round();
    expect(mailbox.mails).toMatchObject([{ subject: 'Hello', text: 'Ann' }]);
    expect(await outbox()).toEqual([]);
  });

  it('is deleted when its address is forgotten', async () => {
    await enqueueMail(em(), MAIL);
    await forgetMail(em(), MAIL.to);
    expect(await outbox()).toEqual([]);
  });

  it('is not accepted without SMTP_URL', async () => {
    await announceMail(em(), { ...test.settings, smtpUrl: null });
    expect(await enqueueMail(em(), MAIL)).toBe(false);
    expect(await outbox()).toEqual([]);
    await announceMail(em(), test.settings);
  });
});
