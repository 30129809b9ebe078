/** How many entries of the usage log match. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, queryOne, sql, toDate } from '../sql.ts';
import { asksForDimensions, asksForRows, summarySource } from './summary.source.ts';
import { ofWallet, whereOf } from './usage.service.ts';
import type { UsageConditions, WalletConditions } from './usage.service.ts';

/** Above this many rows a list is not counted row by row. */
const COUNTED_MAX = 10_000;
/** Before the first request and after the last, in ms of the wall clock. */
const FIRST_MS = 0;
const LAST_MS = Date.UTC(9999, 0);

/**
 * How many entries match, in months that are still there; null where they are too many to count cheaply. What
 * narrows a list down makes its rows rare and far between: then the sums count, whatever the number.
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
  // Sums stay when a month of the log is dropped.
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
