/** Sums over the usage log: totals, a series in buckets, groups. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../errors.ts';
import { query, sql, toDate } from '../sql.ts';
import type { Statement } from '../sql.ts';
import { summarySource } from './summary.source.ts';
import type { WidestSpan } from './summary.source.ts';
import { ofWallet } from './usage.service.ts';
import type { UsageConditions } from './usage.service.ts';

export type Dimension = 'MODEL' | 'KEY' | 'POOL' | 'SOURCE' | 'STATUS' | 'GROUP' | 'USER';
export type BucketWidth = 'HOUR' | 'DAY' | 'WEEK' | 'MONTH';

export interface Totals {
  requests: number;
  failed: number;
  inputTokens: string;
  outputTokens: string;
  cost: bigint;
}

export interface Summary {
  totals: Totals;
  previousTotals: Totals | null;
  series: { at: Date; key: string | null; totals: Totals }[];
  groups: { key: string; label: string; totals: Totals }[];
  asOf: Date;
}

export interface SummaryRequest {
  range: { from: Date; to: Date };
  conditions: UsageConditions;
  groupBy: readonly Dimension[];
  bucket: BucketWidth | null;
}

/** A summary names at most this many groups, and a series has at most this many points. */
const GROUPS_MAX = 100;
const POINTS_MAX = 2000;
const DIMENSIONS_MAX = 3;
const HOUR_MS = 60 * 60 * 1000;
const RANGE_MS_MAX = 400 * 24 * HOUR_MS;
const WIDTH_MS: Record<BucketWidth, number> = {
  HOUR: HOUR_MS,
  DAY: 24 * HOUR_MS,
  WEEK: 7 * 24 * HOUR_MS,
  MONTH: 28 * 24 * HOUR_MS,
};

/** The widest sums that fall into one point each. */
const WIDEST: Record<BucketWidth, WidestSpan> = { HOUR: 'HOUR', DAY: 'DAY', WEEK: 'WEEK', MONTH: 'DAY' };

/** Where the point begins that a row belongs to; weeks begin on Mondays. Cheaper than a calendar's month. */
const BUCKETS: Record<BucketWidth, Statement> = {
  HOUR: sql`date_bin('1 hour', at, '1970-01-05T00:00Z')`,
  DAY: sql`date_bin('1 day', at, '1970-01-05T00:00Z')`,
  WEEK: sql`date_bin('7 days', at, '1970-01-05T00:00Z')`,
  MONTH: sql`date_trunc('month', at, 'UTC')`,
};

const SUMS = sql`coalesce(sum(requests), 0)::integer as requests,
  coalesce(sum(failed), 0)::integer as failed,
  coalesce(sum(input_tokens), 0)::text as input_tokens, coalesce(sum(output_tokens), 0)::text as
    output_tokens,
  coalesce(sum(cost), 0)::text as cost`;

/** Users stand as their wallets until the sums are few. */
const COLUMNS: Record<Dimension, Statement> = {
  MODEL: sql`model_name`,
  KEY: sql`key_id`,
  POOL: sql`coalesce(nullif(pool_id, ''), 'none')`,
  SOURCE: sql`source`,
  STATUS: sql`status`,
  GROUP: sql`upper(billing_group)`,
  USER: sql`wallet_id`,
};

/** Columns of the dimensions while groups are summed up. */
const NAMES = [sql`one`, sql`two`, sql`three`];
/** What people call a group, where it is not its key. */
const LABELS: Partial<Record<Dimension, Statement>> = {
  KEY: sql`(select name from api_key where id = g.one)`,
};
const OWNED: ReadonlySet<Dimension> = new Set(['KEY', 'USER']);

/** Sums up a span. Throws INVALID for a span beyond 400 days, too many points or too many dimensions. */
export async function summarise(em: EntityManager, request: SummaryRequest): Promise<Summary> {
  check(request);
  const { range, groupBy, bucket } = request;
  const conditions = await ofWallet(em, request.conditions);
  const previous = { from: new Date(2 * range.from.getTime() - range.to.getTime()), to: range.from };
  const source = (
    span: { from: Date; to: Date },
    dimensions: readonly Dimension[],
    width: WidestSpan = 'WEEK',
  ): Statement => {
    const byOwner = dimensions.some((one) => OWNED.has(one));
    // Wider sums know the wallet alone, and the sums of all hours are fewer where nobody asks for it.
    const widest = dimensions.length === 1 && dimensions[0] === 'USER' ? width : 'HOUR';
    return summarySource({ range: span, conditions, byOwner, widest });
  };
  const first = groupBy.slice(0, 1);
  return {
    totals: await totalsOf(em, source(range, [])),
    previousTotals: await totalsOf(em, source(previous, [])),
    series: bucket
      ? await seriesOf(em, source(range, first, WIDEST[bucket]), { bucket, dimension: first[0] })
      : [],
    groups: groupBy.length > 0 ? await groupsOf(em, source(range, groupBy), groupBy) : [],
    asOf: new Date(),
  };
}

/** The sums of each key over a span. */
export async function totalsByKey(
  em: EntityManager,
  keyIds: readonly string[],
  range: { from: Date; to: Date },
): Promise<Map<string, Totals>> {
  const source = summarySource({ range, conditions: { keyIds }, byOwner: true });
  const rows = await query<SumsRow & { key: string }>(
    em,
    sql`select key_id as key, ${SUMS} from ${source} u group by 1`,
  );
  return new Map(rows.map((row) => [row.key, toTotals(row)]));
}

/** The points of each key over a span, those of one key in order of time. */
export async function seriesByKey(
  em: EntityManager,
  keyIds: readonly string[],
  { range, bucket }: { range: { from: Date; to: Date }; bucket: BucketWidth },
): Promise<Summary['series']> {
  const source = summarySource({ range, conditions: { keyIds }, byOwner: true });
  return seriesOf(em, source, { bucket, dimension: 'KEY', limit: POINTS_MAX * keyIds.length });
}

function check({ range, groupBy, bucket }: SummaryRequest): void {
  checkSpan(range, bucket);
  if (groupBy.length > DIMENSIONS_MAX || new Set(groupBy).size !== groupBy.length) {
    throw new UserFailure('INVALID', `At most ${DIMENSIONS_MAX} different dimensions.`, 'groupBy');
  }
}

/** Throws INVALID for a span beyond 400 days or too many points. */
export function checkSpan(range: { from: Date; to: Date }, bucket: BucketWidth | null): void {
  const spanMs = range.to.getTime() - range.from.getTime();
  if (spanMs <= 0 || spanMs > RANGE_MS_MAX)
    throw new UserFailure('INVALID', 'The span must be positive and at most 400 days.', 'range');
  if (bucket && spanMs / WIDTH_MS[bucket] > POINTS_MAX) {
    throw new UserFailure(
      'INVALID',
      `A series has at most ${POINTS_MAX} points. Choose a wider bucket.`,
      'bucket',
    );
  }
}

interface SumsRow {
  requests: number;
  failed: number;
  input_tokens: string;
  output_tokens: string;
  cost: string;
}

async function totalsOf(em: EntityManager, source: Statement): Promise<Totals> {
  const [row] = await query<SumsRow>(em, sql`select ${SUMS} from ${source} u`);
  return toTotals(row ?? { requests: 0, failed: 0, input_tokens: '0', output_tokens: '0', cost: '0' });
}

interface SeriesWish {
  bucket: BucketWidth;
  dimension: Dimension | undefined;
  /** Of points. */
  limit?: number;
}

async function seriesOf(
  em: EntityManager,
  source: Statement,
  { bucket, dimension, limit = POINTS_MAX }: SeriesWish,
): Promise<Summary['series']> {
  const column = dimension ? COLUMNS[dimension] : sql`null::text`;
  const key = dimension === 'USER' ? sql`(select user_id from wallet where id = s.key)` : sql`s.key`;
  const rows = await query<SumsRow & { point: string; key: string | null }>(
    em,
    sql`
    select s.*, s.bucket::text as point, ${key} as key from (
      select ${BUCKETS[bucket]} as bucket, ${column} as key, ${SUMS}
      from ${source} u group by 1, 2 order by 1, 2 limit ${limit}) s`,
  );
  return rows.map((row) => ({ at: toDate(row.point), key: row.key, totals: toTotals(row) }));
}

async function groupsOf(
  em: EntityManager,
  source: Statement,
  groupBy: readonly Dimension[],
): Promise<Summary['groups']> {
  const names = NAMES.slice(0, groupBy.length);
  const columns = names.map((name, at) => sql`${COLUMNS[groupBy[at] ?? 'MODEL']} as ${name}`);
  const key = names
    .map((name, at) =>
      groupBy[at] === 'USER' ? sql`(select user_id from wallet where id = g.${name})` : sql`g.${name}`,
    )
    .reduce((left, right) => sql`${left} || '/' || ${right}`);
  const [only] = groupBy.length === 1 ? groupBy : [];
  const rows = await query<SumsRow & { key: string; label: string | null }>(
    em,
    sql`
    select g.*, ${key} as key, ${only ? (LABELS[only] ?? sql`null`) : sql`null`} as label
    from (select ${list(columns)}, ${SUMS} from ${source} u group by ${list(names)}
      order by sum(cost) desc, ${list(names)} limit ${GROUPS_MAX}) g
    order by g.cost::bigint desc, key`,
  );
  return rows.map((row) => ({ key: row.key, label: row.label ?? row.key, totals: toTotals(row) }));
}

function list(parts: readonly Statement[]): Statement {
  return parts.reduce((left, right) => sql`${left}, ${right}`);
}

function toTotals(row: SumsRow): Totals {
  return {
    requests: row.requests,
    failed: row.failed,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cost: BigInt(row.cost),
  };
}
