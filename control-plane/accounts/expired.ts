/** Forgets what nobody can use any more: links, challenges, tickets and registrations past their time. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../sql.ts';

/** Used links are kept for a day, so that a second click can still be looked into. */
export async function forgetExpired(em: EntityManager): Promise<void> {
  await query(em, sql`delete from account_link where expires_at < now() - interval '1 day'`);
  await query(em, sql`delete from pending_registration where expires_at < now()`);
  await query(em, sql`delete from passkey_challenge where expires_at < now()`);
  await query(em, sql`delete from oidc_flow where expires_at < now()`);
  await query(em, sql`delete from oidc_ticket where expires_at < now()`);
  await query(em, sql`delete from data_export where expires_at < now()`);
  await query(em, sql`delete from session where expires_at < now()`);
  await query(em, sql`delete from attempt_window where started_at < now() - interval '1 day'`);
}
