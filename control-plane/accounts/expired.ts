/** Forgets what nobody can use any more: sessions, tokens, links and registrations past their time. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { pruneInBatches } from '../prune.ts';
import type { PruneRound } from '../prune.ts';
import { sql } from '../sql.ts';
import type { Statement } from '../sql.ts';
import { PLACE_DAYS } from './notices.ts';
import { TOKEN_KEPT_DAYS } from './token.service.ts';

const PAST = sql`expires_at < now()`;

/** Which rows of which table have had their time. */
const EXPIRED: readonly { table: Statement; where: Statement }[] = [
  // Used ones are kept for a day, so that a second click can still be looked into.
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
  // The next sign-in would forget them, too; some never come back.
  { table: sql`sign_in_place`, where: sql`last_at < now() - ${PLACE_DAYS} * interval '1 day'` },
];

/** One round over all of it; `round` bounds each table. Returns how many rows went. */
export async function forgetExpired(em: EntityManager, round?: PruneRound): Promise<number> {
  let gone = 0;
  for (const { table, where } of EXPIRED) {
    // By their place, which every table has; one that was written meanwhile stays for the next round.
    const deletion = (rows: number) => sql`
      with due as materialized (
        select ctid from ${table} where ${where} limit ${rows} for update skip locked
      )
      delete from ${table} t using due where t.ctid = due.ctid returning 1`;
    gone += await pruneInBatches(em, deletion, round);
  }
  return gone;
}
