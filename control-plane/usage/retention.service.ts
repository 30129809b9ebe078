/** Creates the monthly partitions of the usage log ahead of time, and drops old ones as a whole. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { earlierOfBothClocks } from '../database/prune.ts';
import { query, queryOne, sql } from '../database/sql.ts';

/** Months are created this many days ahead, so that they exist even if this job did not run for long. */
const AHEAD_DAYS = 92;
/** Reported requests may be this old; settlement stores older ones with the present time. */
const BEHIND_DAYS = 3;
/** Maximum number of months dropped in one run, so that a run is short. */
const DROPS_MAX = 12;

/** Creates the missing months around now and returns how many. */
export async function makeMonths(em: EntityManager): Promise<number> {
  const row = await queryOne<{ made: number }>(
    em,
    sql`select usage_make_partitions(clock_timestamp() - ${BEHIND_DAYS} * interval '1 day',
      clock_timestamp() + ${AHEAD_DAYS} * interval '1 day') as made`,
  );
  return row?.made ?? 0;
}

/**
 * Drops months that ended more than `retentionDays` ago (at least 30; null keeps all) and returns their
 * names. Hourly sums, charges and the ledger are kept; `usage_partition` stores the totals of a dropped
 * month. `here` is this process's clock: a month is dropped only if both clocks agree.
 */
export async function dropMonths(
  em: EntityManager,
  retentionDays: number | null,
  here?: Date,
): Promise<string[]> {
  const dropped: string[] = [];
  if (retentionDays === null) return dropped;
  while (dropped.length < DROPS_MAX) {
    const end = sql`${earlierOfBothClocks(here)} - ${retentionDays} * interval '1 day'`;
    const [row] = await query<{ name: string | null }>(em, sql`select usage_drop_partition(${end}) as name`);
    if (!row?.name) break;
    dropped.push(row.name);
  }
  return dropped;
}
