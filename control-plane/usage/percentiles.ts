/** Computes percentiles of stored distributions of times in a single query. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql, toDate } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { middleOf } from './timing.buckets.ts';
import type { Percentiles } from './timing.buckets.ts';

/** Percentiles of the time to the first content, and of the whole request; null without such requests. */
export interface Timings {
  ttft: Percentiles | null;
  duration: Percentiles | null;
}

/** The timings of one point and key. */
export interface TimingRow {
  /** Start of the point; null for the whole range. */
  at: Date | null;
  /** Null for all keys together. */
  key: string | null;
  timings: Timings;
}

/** Columns by which the counts of a source are added up. */
export interface TimingSets {
  /** Start of the point that a row belongs to; undefined for no series. */
  point: Statement | undefined;
  /** Undefined for no groups. */
  key: Statement | undefined;
  /** Whether each point has timings by key, too. */
  isKeyed?: boolean;
}

/** Ranks of a percentile among buckets, as the row of one measure reports them. */
export interface PercentileRow {
  measure: string;
  requests: number;
  p50: number;
  p95: number;
  p99: number;
}

type Row = PercentileRow & { at: string | null; key: string | null };

/**
 * Timings of the whole range, of each point, and of each key. `source` has the columns `measure`, `buckets`
 * and `counts`, and those that the sets name.
 */
export async function percentilesOf(
  em: EntityManager,
  source: Statement,
  { point, key, isKeyed = false }: TimingSets,
): Promise<TimingRow[]> {
  const columns = [sql`measure`, sql`bucket`];
  const sets = [
    columns,
    ...(point ? [[sql`point`, ...columns]] : []),
    ...(key ? [[sql`key`, ...columns]] : []),
    ...(point && key && isKeyed ? [[sql`point`, sql`key`, ...columns]] : []),
  ];
  const rows = await query<Row>(
    em,
    sql`
    with added as materialized (
      select ${point ?? sql`null::timestamptz`} as point, ${key ?? sql`null::text`} as key, measure, bucket,
        sum(count) as count
      from ${source} s cross join lateral unnest(buckets, counts) as b (bucket, count) group by 1, 2, 3, 4),
    sums as (
      select ${point ? sql`point` : sql`null::timestamptz as point`},
        ${key ? sql`key` : sql`null::text as key`}, measure, bucket, sum(count) as count
      from added group by grouping sets (${joinedBy(sets.map((set) => sql`(${joinedBy(set)})`))})),
    ranked as (
      select *, sum(count) over (partition by point, key, measure order by bucket) as rank,
        sum(count) over (partition by point, key, measure) as total
      from sums)
    select point::text as at, key, measure, max(total)::integer as requests,
      min(bucket) filter (where rank * 100 >= total * 50)::integer as p50,
      min(bucket) filter (where rank * 100 >= total * 95)::integer as p95,
      min(bucket) filter (where rank * 100 >= total * 99)::integer as p99
    from ranked group by point, key, measure order by point, key`,
  );
  return joined(rows.map((row) => ({ ...row, at: row.at === null ? null : toDate(row.at) })));
}

function joinedBy(parts: readonly Statement[]): Statement {
  return parts.reduce((left, right) => sql`${left}, ${right}`);
}

/** Joins the rows of both measures. */
export function joined(rows: readonly (PercentileRow & Pick<TimingRow, 'at' | 'key'>)[]): TimingRow[] {
  const found = new Map<string, TimingRow>();
  for (const row of rows) {
    const { at, key, measure } = row;
    const id = `${at?.getTime() ?? ''} ${key ?? ''}`;
    const own = found.get(id) ?? { at, key, timings: { ttft: null, duration: null } };
    own.timings[measure === 'TTFT' ? 'ttft' : 'duration'] = percentilesIn(row);
    found.set(id, own);
  }
  return [...found.values()];
}

function percentilesIn({ requests, p50, p95, p99 }: PercentileRow): Percentiles {
  return { requests, p50Ms: middleOf(p50), p95Ms: middleOf(p95), p99Ms: middleOf(p99) };
}
