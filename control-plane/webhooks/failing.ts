/** Disables endpoints that fail for long, and notifies their owners. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { queryOne, query, sql } from '../database/sql.ts';
import { enqueueMail } from '../mail/mail.service.ts';
import { failedMail } from './notice.texts.ts';

/** An endpoint is disabled when a delivery fails for the last time after so many hours without a success. */
const FAILING_HOURS = 20;

/**
 * Disables the endpoint if it has failed for long, or at once, and mails its owner. Its waiting deliveries
 * end as failed; their owner can repeat them.
 */
export async function failEndpoint(em: EntityManager, id: string, atOnce: boolean): Promise<void> {
  const failed = await queryOne<{ url: string; email: string; locale: string }>(
    em,
    sql`update webhook_endpoint e set state = 'FAILED', version = version + 1 from users u
    where e.id = ${id} and e.state = 'ENABLED' and u.id = e.owner_id
      and (${atOnce}::boolean or e.failing_since < now() - make_interval(hours => ${FAILING_HOURS}))
    returning e.url, u.email, u.locale`,
  );
  if (!failed) return;
  await endWaiting(em, id);
  const outlet = await queryOne<{ console_url: string }>(em, sql`select console_url from mail_outlet`);
  if (!outlet) return;
  const mail = failedMail(failed.locale, {
    host: new URL(failed.url).host,
    link: `${outlet.console_url}/profile/webhooks`,
  });
  await enqueueMail(em, { to: failed.email, ...mail });
}

/** Ends the waiting deliveries of an endpoint that receives nothing more. */
export async function endWaiting(em: EntityManager, endpointId: string): Promise<void> {
  await query(
    em,
    sql`update webhook_delivery set state = 'FAILED', reserved_until = null
    where endpoint_id = ${endpointId} and state = 'PENDING'`,
  );
}
