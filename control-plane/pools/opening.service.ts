/** Tells those who asked for it that the storefront is open again: each once, then the wish is fulfilled. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { enqueueMail } from '../mail/mail.service.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import { openingMail } from './notice.texts.ts';

/** So many are told in one round; the others with the next. */
const ROUND_MAX = 200;

interface Waiting {
  email: string;
  locale: string;
}

/**
 * One round. While the storefront is closed, or no mail is sent here, the wishes stay. A mail and the end of
 * its wish are one transaction, and rows in the hands of another control plane are left to it.
 */
export async function tellOpening(em: EntityManager): Promise<void> {
  await inTransaction(em, async (inner) => {
    const outlet = await queryOne<{ console_url: string }>(
      inner,
      sql`select o.console_url from mail_outlet o, storefront s where s.state = 'OPEN'`,
    );
    if (!outlet) return;
    const told = await query<Waiting>(
      inner,
      sql`update users set notify_storefront = false
        where id in (select id from users where notify_storefront and state = 'ACTIVE' order by id
          limit ${ROUND_MAX} for update skip locked)
      returning email, locale`,
    );
    for (const { email, locale } of told)
      await enqueueMail(inner, { to: email, ...openingMail(locale, `${outlet.console_url}/pools`) });
  });
}
