/** A real SMTP server, and the mailer of a control plane that delivers to it, for tests of sent mail. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { MikroORM } from '@mikro-orm/postgresql';
import { announceMail } from '../../control-plane/mail/mail.service.ts';
import { startMailer } from '../../control-plane/mail/mailer.ts';
import { startMailbox } from './mailbox.ts';
import type { Mailbox, Received } from './mailbox.ts';

export interface TestMailServer {
  /** The mails delivered in this test. */
  mails(): Received[];
  /** Subjects of the delivered mails. */
  subjects(): string[];
  /** Marks in the database that this installation sends no mail, until the next test. */
  disable(): Promise<void>;
  /** Sends the mails that are due in the outbox. */
  deliver(): Promise<void>;
}

/**
 * Runs a mail server for a test file. Each test starts with mail enabled and no mails. Call it after the
 * `beforeAll` that opens the database; `ormOf` is called in hooks and tests.
 */
export function useMailServer(ormOf: () => MikroORM): TestMailServer {
  let mailbox: Mailbox | undefined;
  const settings = (smtpUrl: string | null) => ({
    smtpUrl,
    mailFrom: null,
    secretKey: 'a secret of at least thirty-two bytes',
    consoleUrl: 'https://console.example',
  });
  const announce = (smtpUrl: string | null) => announceMail(ormOf().em.fork(), settings(smtpUrl));
  const url = () => mailbox?.url ?? null;
  const mails = () => mailbox?.mails ?? [];
  beforeAll(async () => {
    mailbox = await startMailbox();
  });
  beforeEach(() => announce(url()));
  afterEach(() => {
    mails().length = 0;
  });
  afterAll(() => mailbox?.close());
  return {
    mails,
    subjects: () => mails().map(({ subject }) => subject),
    disable: () => announce(null),
    deliver: async () => {
      const mailer = startMailer({ orm: ormOf(), settings: settings(url()), compose: async () => null });
      await mailer.sendDue();
      await mailer.stop();
    },
  };
}
