/** The months of the usage log: made ahead of time, and dropped whole when they are older than is kept. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { surelyNow } from '../prune.ts';
import { query, queryOne, sql } from '../sql.ts';

/** Months are made this far ahead, so that a service that was away for long still finds one. */
const AHEAD_DAYS = 92;
/** Reports of nodes may be this old; settlement gives older ones the present time. */
const BEHIND_DAYS = 3;
/** A run drops at most this many months, so that it never takes long. */
const DROPS_MAX = 12;

/** Makes the months that are missing around now. Returns how many. */
export async function makeMonths(em: EntityManager): Promise<number> {
  const row = await queryOne<{ made: number }>(
    em,
    sql`select usage_make_partitions(clock_timestamp() - ${BEHIND_DAYS} * interval '1 day',
      clock_timestamp() + ${AHEAD_DAYS} * interval '1 day') as made`,
  );
  return row?.made ?? 0;
}

/**
 * Drops months that ended more than `retentionDays` ago (30 at least; null keeps all) and returns their
 * names. Sums by hour, charges and the ledger stay; `usage_partition` says what a dropped month held. `here`
 * is this process's clock.
 */
export async function dropMonths(
  em: EntityManager,
  retentionDays: number | null,
  here?: Date,
): Promise<string[]> {
  const dropped: string[] = [];
  if (retentionDays === null) return dropped;
  while (dropped.length < DROPS_MAX) {
    const [row] = await query<{ name: string | null }>(
      em,
      sql`select usage_drop_partition(${surelyNow(here)} - ${retentionDays} * interval '1 day') as name`,
    );
    if (!row?.name) break;
    dropped.push(row.name);
  }
  return dropped;
}
