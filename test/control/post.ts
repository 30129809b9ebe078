/** A real mail server, and the post of a control plane that delivers to it: for tests of what is mailed. */
import type { MikroORM } from '@mikro-orm/postgresql';
import { announceMail } from '../../control-plane/mail/mail.service.ts';
import { startPost } from '../../control-plane/mail/post.ts';
import { startMailbox } from './mailbox.ts';
import type { Mailbox } from './mailbox.ts';

export interface TestPost {
  mailbox: Mailbox;
  /** Says in the database that mail is sent, as a starting control plane does. */
  announce(): Promise<void>;
  /** Says that none is sent any more. */
  renounce(): Promise<void>;
  /** Delivers what waits in the outbox. */
  deliver(): Promise<void>;
}

/** Opens both. Close the mailbox at the end. */
export async function openPost(orm: MikroORM): Promise<TestPost> {
  const mailbox = await startMailbox();
  const settings = {
    smtpUrl: mailbox.url,
    mailFrom: null,
    secretKey: 'a secret of at least thirty-two bytes',
    consoleUrl: 'https://console.example',
  };
  return {
    mailbox,
    announce: () => announceMail(orm.em.fork(), settings),
    renounce: () => announceMail(orm.em.fork(), { ...settings, smtpUrl: null }),
    deliver: async () => {
      const post = startPost({ orm, settings, compose: async () => null });
      await post.round();
      await post.stop();
    },
  };
}
