/** Mails the users who subscribed to it, once each, that the storefront is open again. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { enqueueMail } from '../mail/mail.service.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { storefrontOpenMail } from './notice.texts.ts';

/** Maximum number of users mailed in one run; the next run mails the others. */
const MAILS_MAX = 200;

interface Subscriber {
  email: string;
  locale: string;
}

/**
 * Job: queues the mails and ends the subscriptions, in one transaction. Does nothing while the storefront is
 * closed or this installation sends no mail. Rows that another control plane has locked are skipped.
 */
export async function mailStorefrontOpen(em: EntityManager): Promise<void> {
  await inTransaction(em, async (inner) => {
    const outlet = await queryOne<{ console_url: string }>(
      inner,
      sql`select o.console_url from mail_outlet o, storefront s where s.state = 'OPEN'`,
    );
    if (!outlet) return;
    const subscribers = await query<Subscriber>(
      inner,
      sql`update users set notify_storefront = false
        where id in (select id from users where notify_storefront and state = 'ACTIVE' order by id
          limit ${MAILS_MAX} for update skip locked)
      returning email, locale`,
    );
    for (const { email, locale } of subscribers)
      await enqueueMail(inner, { to: email, ...storefrontOpenMail(locale, `${outlet.console_url}/pools`) });
  });
}
