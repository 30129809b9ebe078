/** Counts the entries of the usage log for lists. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, queryOne, sql, toDate } from '../database/sql.ts';
import { asksForDimensions, asksForRows, summarySource } from './summary.source.ts';
import { ofWallet, whereOf } from './usage.service.ts';
import type { UsageConditions, WalletConditions } from './usage.service.ts';

/** Maximum number of rows that are counted one by one. */
const COUNTED_MAX = 10_000;
/** Times before the first and after the last request, in ms since 1970. */
const FIRST_MS = 0;
const LAST_MS = Date.UTC(9999, 0);

/**
 * Number of matching entries in months that were not dropped; null if there are too many to count cheaply.
 * Filters by model, key, pool, source or status make rows sparse, which is slow to count one by one: with
 * these filters the number comes from the hourly sums, at any size.
 */
export async function countUsage(em: EntityManager, conditions: UsageConditions): Promise<number | null> {
  const own = await ofWallet(em, conditions);
  if (asksForDimensions(own) && !asksForRows(own)) return countBySums(em, own);
  const [row] = await query<{ count: number }>(
    em,
    sql`
    select count(*)::integer as count
    from (select from usage_entry where ${whereOf(own)} limit ${COUNTED_MAX + 1}) as found`,
  );
  return row && row.count <= COUNTED_MAX ? row.count : null;
}

async function countBySums(em: EntityManager, conditions: WalletConditions): Promise<number> {
  const { range } = conditions;
  // The sums keep months that the log has dropped; leave these months out.
  const dropped = await queryOne<{ until: string | null }>(
    em,
    sql`select max(upper_at)::text as until from usage_partition where dropped_at is not null`,
  );
  const droppedMs = dropped?.until ? toDate(dropped.until).getTime() : FIRST_MS;
  const from = new Date(Math.max(range?.from.getTime() ?? FIRST_MS, droppedMs));
  const to = range?.to ?? new Date(LAST_MS);
  if (from >= to) return 0;
  const source = summarySource({ range: { from, to }, conditions, byOwner: false });
  const row = await queryOne<{ count: number }>(
    em,
    sql`select coalesce(sum(requests), 0)::integer as count from ${source} u`,
  );
  return row?.count ?? 0;
}
