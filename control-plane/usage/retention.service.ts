/** Creates the partitions of the usage log ahead of time, and drops old ones as a whole. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { earlierOfBothClocks } from '../database/prune.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import type { PartitionWidth } from '../process/settings.ts';

/**
 * Partitions are created this many days ahead, so that they exist even if this job did not run for long. Many
 * narrow ones would make each query slower to plan.
 */
const AHEAD_DAYS: Readonly<Record<PartitionWidth, number>> = { month: 92, week: 35, day: 14 };
/** Reported requests may be this old; settlement stores older ones with the present time. */
const BEHIND_DAYS = 3;
/** Maximum number of partitions dropped in one run, so that a run is short. */
const DROPS_MAX = 12;

/** Creates the missing partitions around now and returns how many. Existing ones keep their width. */
export async function makePartitions(em: EntityManager, width: PartitionWidth = 'month'): Promise<number> {
  const row = await queryOne<{ made: number }>(
    em,
    sql`select usage_make_partitions(clock_timestamp() - ${BEHIND_DAYS} * interval '1 day',
      clock_timestamp() + ${AHEAD_DAYS[width]} * interval '1 day', ${width}) as made`,
  );
  return row?.made ?? 0;
}

/**
 * Drops partitions that ended more than `retentionDays` ago (at least 30; null keeps all) and returns their
 * names. Hourly sums, charges and the ledger are kept; `usage_partition` stores the totals of a dropped
 * one. `here` is this process's clock: a partition is dropped only if both clocks agree. Drops nothing while
 * another session does. Rejects if an archived partition differs from its files.
 */
export async function dropPartitions(
  em: EntityManager,
  retentionDays: number | null,
  here?: Date,
): Promise<string[]> {
  const dropped: string[] = [];
  if (retentionDays === null) return dropped;
  while (dropped.length < DROPS_MAX) {
    const end = sql`${earlierOfBothClocks(here)} - ${retentionDays} * interval '1 day'`;
    await query(em, sql`select usage_compare_archive(${end})`);
    const [row] = await query<{ name: string | null }>(em, sql`select usage_drop_partition(${end}) as name`);
    if (!row?.name) break;
    dropped.push(row.name);
  }
  return dropped;
}
