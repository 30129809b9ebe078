/** Times of succeeded requests, computed by ClickHouse with the same buckets as PostgreSQL. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { joined } from '../usage/percentiles.ts';
import type { TimingRow } from '../usage/percentiles.ts';
import { BUCKET_BOUNDS_MS } from '../usage/timing.buckets.ts';
import { excludesTimes, timingSets } from '../usage/timing.service.ts';
import type { SummaryTimings, TimingsRequest } from '../usage/timing.service.ts';
import { conditionsOf } from './conditions.ts';
import type { ChConditions } from './conditions.ts';
import { integerIn, textIn } from './fields.ts';
import { BUCKETS, COLUMNS, nameIn, namesOf } from './sets.ts';
import { ch, tableOf } from './statement.ts';
import type { ChStatement } from './statement.ts';
import type { ChRow, ClickHouseStore } from './store.ts';

/** The lower bounds of the buckets as an array. */
const BOUNDS: ChStatement = { text: `[${BUCKET_BOUNDS_MS.join(', ')}]`, parameters: [] };

interface TimingsParts {
  em: EntityManager;
  store: ClickHouseStore;
  table: string;
}

/** Computes the times of a range. Rejects if ClickHouse does not answer as expected. */
export async function timingsIn(
  { em, store, table }: TimingsParts,
  conditions: ChConditions,
  { groupBy, bucket }: TimingsRequest,
): Promise<SummaryTimings> {
  if (excludesTimes(conditions)) return timingSets([]);
  const succeeded: ChConditions = { ...conditions, statuses: ['SUCCEEDED'] };
  const rows = ch`from ${tableOf(table)} final where ${conditionsOf(succeeded)}`;
  const point = bucket ? BUCKETS[bucket] : undefined;
  const key = groupBy ? COLUMNS[groupBy] : undefined;
  const [totals, series, groups] = await Promise.all([
    store.rows(percentiles(ch`0`, ch`''`, rows)),
    point ? store.rows(percentiles(point, ch`''`, rows)) : [],
    key ? store.rows(percentiles(ch`0`, key, rows)) : [],
  ]);
  const names = await namesOf(em, { groupBy: groupBy ? [groupBy] : [], series: [], groups });
  const nameOf = (row: ChRow): string =>
    groupBy ? nameIn(names, groupBy, textIn(row, 'd0')) : textIn(row, 'd0');
  return timingSets([
    ...rowsIn(totals, () => ({ at: null, key: null })),
    ...rowsIn(series, (row) => ({ at: new Date(integerIn(row, 'point') * 1000), key: null })),
    ...rowsIn(groups, (row) => ({ at: null, key: nameOf(row) })),
  ]);
}

/** Percentiles by point and key. A percentile is the first bucket that holds its rank. */
function percentiles(point: ChStatement, key: ChStatement, rows: ChStatement): ChStatement {
  return ch`
    select point, d0, measure, max(total) as requests,
      minIf(bucket, rank * 100 >= total * 50) as p50, minIf(bucket, rank * 100 >= total * 95) as p95,
      minIf(bucket, rank * 100 >= total * 99) as p99
    from (select point, d0, measure, bucket,
        sum(number) over (partition by point, d0, measure order by bucket) as rank,
        sum(number) over (partition by point, d0, measure) as total
      from (select point, d0, measure, indexOf(${BOUNDS}, roundDown(ms, ${BOUNDS})) - 1 as bucket,
          count() as number
        from (select ${point} as point, ${key} as d0, toNullable(latency_ms) as latency, ttft_ms as ttft
          ${rows})
        array join ['DURATION', 'TTFT'] as measure, [latency, ttft] as ms
        where ms is not null group by point, d0, measure, bucket))
    group by point, d0, measure order by point, d0`;
}

function rowsIn(rows: readonly ChRow[], place: (row: ChRow) => Pick<TimingRow, 'at' | 'key'>): TimingRow[] {
  return joined(
    rows.map((row) => ({
      ...place(row),
      measure: textIn(row, 'measure'),
      requests: integerIn(row, 'requests'),
      p50: integerIn(row, 'p50'),
      p95: integerIn(row, 'p95'),
      p99: integerIn(row, 'p99'),
    })),
  );
}
