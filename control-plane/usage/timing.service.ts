/** Reads the times of succeeded requests: the whole range, a time series and groups. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { all, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { bucketOf } from './hour-sums.service.ts';
import { percentilesOf } from './percentiles.ts';
import type { TimingRow, Timings } from './percentiles.ts';
import { BUCKETS, COLUMNS } from './summary.sets.ts';
import type { BucketWidth, Dimension } from './summary.sets.ts';
import { asksForRows, inPools } from './summary.source.ts';
import type { SummarySpan } from './summary.source.ts';
import { whereOf } from './usage.service.ts';
import type { WalletConditions } from './usage.service.ts';

const HOUR_MS = 60 * 60 * 1000;

/** Dimension and time span by which the times of a range are added up. */
export interface TimingsRequest {
  /** Dimension of the groups; null for no groups. */
  groupBy: Dimension | null;
  /** Time span of each point; null for no series. */
  bucket: BucketWidth | null;
}

/** The times of a range. */
export interface SummaryTimings {
  totals: Timings;
  /** By ascending time. */
  series: { at: Date; timings: Timings }[];
  /** By ascending key. */
  groups: { key: string; timings: Timings }[];
}

/** The hours that begin in a range: distributions are stored by whole hours. */
export function hoursIn({ from, to }: SummarySpan['range']): SummarySpan['range'] {
  const up = (time: Date): Date => new Date(Math.ceil(time.getTime() / HOUR_MS) * HOUR_MS);
  return { from: up(from), to: up(to) };
}

/** Whether the conditions exclude all succeeded requests, which alone have times. */
export function excludesTimes({ statuses }: WalletConditions): boolean {
  return statuses !== null && statuses !== undefined && !statuses.includes('SUCCEEDED');
}

/** The times of the requests of whole hours that match. */
export async function timingsOf(
  em: EntityManager,
  { range, conditions, byOwner }: SummarySpan,
  { groupBy, bucket }: TimingsRequest,
): Promise<SummaryTimings> {
  if (excludesTimes(conditions)) return timingSets([]);
  const hours = hoursIn(range);
  const owned = byOwner || Boolean(conditions.walletId) || Boolean(conditions.keyIds);
  const source = asksForRows(conditions)
    ? rowsOf(conditions, hours)
    : (owned ? hoursOf : hoursOfAll)(conditions, hours);
  const key =
    groupBy === 'USER'
      ? sql`(select user_id from wallet where id = s.wallet_id)`
      : groupBy && COLUMNS[groupBy];
  return timingSets(
    await percentilesOf(em, sql`(${source})`, {
      point: bucket ? BUCKETS[bucket] : undefined,
      key: key ?? undefined,
    }),
  );
}

/** The times of each key, by key id, from one query. A key without succeeded requests has no times. */
export async function timingsOfKeys(
  em: EntityManager,
  keyIds: readonly string[],
  { range, bucket }: { range: SummarySpan['range']; bucket: BucketWidth | null },
): Promise<ReadonlyMap<string, SummaryTimings>> {
  const rows = await percentilesOf(em, sql`(${hoursOf({ keyIds }, hoursIn(range))})`, {
    point: bucket ? BUCKETS[bucket] : undefined,
    key: COLUMNS.KEY,
    isKeyed: true,
  });
  const byKey = Map.groupBy(rows, ({ key }) => key);
  const rowsOfKey = (id: string): TimingRow[] => (byKey.get(id) ?? []).map((row) => ({ ...row, key: null }));
  return new Map(keyIds.map((id) => [id, timingSets(rowsOfKey(id))]));
}

/** Arranges rows as sets. */
export function timingSets(rows: readonly TimingRow[]): SummaryTimings {
  const totals = rows.find(({ at, key }) => at === null && key === null)?.timings;
  return {
    totals: totals ?? { ttft: null, duration: null },
    series: rows.flatMap(({ at, key, timings }) => (at && key === null ? [{ at, timings }] : [])),
    groups: rows
      .flatMap(({ at, key, timings }) => (key !== null && at === null ? [{ key, timings }] : []))
      .toSorted((left, right) => (left.key < right.key ? -1 : 1)),
  };
}

function hoursOf(conditions: WalletConditions, range: SummarySpan['range']): Statement {
  const { keyIds, walletId } = conditions;
  const list = [dimensionsOf(conditions, range)];
  if (keyIds) list.push(sql`key_id = any(${[...keyIds]}::text[])`);
  if (walletId) list.push(sql`wallet_id = ${walletId}`);
  return sql`select hour as at, wallet_id, key_id, model_name, pool_id, billing_group, source,
      'SUCCEEDED' as status, measure, buckets, counts
    from usage_timing where ${all(list)}`;
}

function hoursOfAll(conditions: WalletConditions, range: SummarySpan['range']): Statement {
  return sql`select hour as at, null as wallet_id, null as key_id, model_name, pool_id, billing_group, source,
      'SUCCEEDED' as status, measure, buckets, counts
    from usage_timing_all where ${dimensionsOf(conditions, range)}`;
}

/** Distributions of one request each, for conditions that only rows of the log can answer. */
function rowsOf(conditions: WalletConditions, range: SummarySpan['range']): Statement {
  return sql`select at, wallet_id, key_id, model_name, coalesce(pool_id, '') as pool_id, billing_group,
      source, status, measure, array[bucket] as buckets, array[1] as counts
    from usage_entry cross join lateral (values ('DURATION', ${bucketOf(sql`latency_ms`)}),
      ('TTFT', ${bucketOf(sql`ttft_ms`)})) as m (measure, bucket)
    where status = 'SUCCEEDED' and bucket is not null and ${whereOf({ ...conditions, range })}`;
}

function dimensionsOf(
  { modelNames, poolIds, sources }: WalletConditions,
  { from, to }: SummarySpan['range'],
): Statement {
  const list = [sql`hour >= ${from} and hour < ${to}`];
  if (modelNames) list.push(sql`model_name = any(${[...modelNames]}::text[])`);
  if (poolIds) list.push(inPools(poolIds));
  if (sources) list.push(sql`source = any(${[...sources]}::text[])`);
  return all(list);
}
