/** Deletes expired sessions, access tokens, links, registrations and other short-lived rows of accounts. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { pruneInBatches } from '../database/prune.ts';
import type { PruneRound } from '../database/prune.ts';
import { sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { PLACE_KEPT_DAYS } from './known-places.ts';
import { TOKEN_KEPT_DAYS } from './token.service.ts';

const PAST = sql`expires_at < now()`;

/** Which rows of which tables are to be deleted. */
const EXPIRED: readonly { table: Statement; where: Statement }[] = [
  // Kept for a day after they expired, for questions about links that did not work.
  { table: sql`account_link`, where: sql`expires_at < now() - interval '1 day'` },
  { table: sql`pending_registration`, where: PAST },
  { table: sql`passkey_challenge`, where: PAST },
  { table: sql`oidc_flow`, where: PAST },
  { table: sql`oidc_ticket`, where: PAST },
  { table: sql`data_export`, where: PAST },
  { table: sql`session`, where: PAST },
  { table: sql`attempt_window`, where: sql`started_at < now() - interval '1 day'` },
  {
    table: sql`access_token`,
    where: sql`least(revoked_at, expires_at) < now() - ${TOKEN_KEPT_DAYS} * interval '1 day'`,
  },
  // A sign-in deletes these rows too, but some users never sign in again.
  { table: sql`sign_in_place`, where: sql`last_at < now() - ${PLACE_KEPT_DAYS} * interval '1 day'` },
];

/**
 * Deletes expired rows from every table, at most as many per table as `round` allows. Returns their number.
 */
export async function deleteExpired(em: EntityManager, round?: PruneRound): Promise<number> {
  let deleted = 0;
  for (const { table, where } of EXPIRED) {
    // Every table has a ctid. A row that is updated at the same time gets a new ctid and is not deleted.
    const deletion = (rows: number) => sql`
      with due as materialized (
        select ctid from ${table} where ${where} limit ${rows} for update skip locked
      )
      delete from ${table} t using due where t.ctid = due.ctid returning 1`;
    deleted += await pruneInBatches(em, deletion, round);
  }
  return deleted;
}
