/** Computes totals, time series and groups of a summary source in a single query. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { queryOne, sql, toDate } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';

export type Dimension = 'MODEL' | 'KEY' | 'POOL' | 'SOURCE' | 'STATUS' | 'GROUP' | 'USER';
export type BucketWidth = 'HOUR' | 'DAY' | 'WEEK' | 'MONTH';

/** Sums over requests; `cost` is in micro-USD. */
export interface Totals {
  requests: number;
  /** Requests that did not succeed. */
  failed: number;
  inputTokens: string;
  outputTokens: string;
  cachedTokens: string;
  cost: bigint;
}

/** Sets to compute: a series by the first dimension if `bucket` is set, and groups by all dimensions. */
export interface SetsRequest {
  /** At most three. */
  groupBy: readonly Dimension[];
  bucket: BucketWidth | null;
  /** Later points are left out. */
  pointsMax: number;
  /** Groups with a lower cost are left out. */
  groupsMax: number;
}

export interface Sets {
  totals: Totals;
  /** By ascending time. */
  series: { at: Date; key: string | null; totals: Totals }[];
  /** By descending cost. */
  groups: { key: string; label: string; totals: Totals }[];
}

const NOTHING = sql`null::text`;

/**
 * Start of the point that a row belongs to; weeks begin on Monday. `date_bin` is cheaper than `date_trunc`.
 */
export const BUCKETS: Record<BucketWidth, Statement> = {
  HOUR: sql`date_bin('1 hour', at, '1970-01-05T00:00Z')`,
  DAY: sql`date_bin('1 day', at, '1970-01-05T00:00Z')`,
  WEEK: sql`date_bin('7 days', at, '1970-01-05T00:00Z')`,
  MONTH: sql`date_trunc('month', at, 'UTC')`,
};

/** The column of each dimension. Users are grouped by wallet, and looked up only in the result. */
export const COLUMNS: Record<Dimension, Statement> = {
  MODEL: sql`model_name`,
  KEY: sql`key_id`,
  POOL: sql`coalesce(nullif(pool_id, ''), 'none')`,
  SOURCE: sql`source`,
  STATUS: sql`status`,
  GROUP: sql`upper(billing_group)`,
  USER: sql`wallet_id`,
};

/** The label of a group where it differs from its key. */
const LABELS: Partial<Record<Dimension, Statement>> = {
  KEY: sql`(select name from api_key where id = s.one)`,
  POOL: sql`(select name from pools where id = s.one)`,
  USER: sql`(select u.email from wallet w join users u on u.id = w.user_id where w.id = s.one)`,
};

const SUMS = sql`coalesce(sum(requests), 0)::integer as requests, coalesce(sum(failed), 0)::integer as failed,
  coalesce(sum(input_tokens), 0)::text as input, coalesce(sum(output_tokens), 0)::text as output,
  coalesce(sum(cached_tokens), 0)::text as cached, coalesce(sum(cost), 0)::text as cost`;

interface SumsRow {
  requests: number;
  failed: number;
  input: string;
  output: string;
  cached: string;
  cost: string;
}
interface SetsRow {
  totals: SumsRow;
  series: (SumsRow & { at: string; key: string | null })[] | null;
  groups: (SumsRow & { key: string; label: string | null })[] | null;
}

/** Computes the totals, series and groups of a source (see summary.source.ts). */
export async function setsOf(em: EntityManager, source: Statement, request: SetsRequest): Promise<Sets> {
  const { groupBy, bucket } = request;
  const [one = NOTHING, two = NOTHING, three = NOTHING] = groupBy.map((dimension) => COLUMNS[dimension]);
  const row = await queryOne<SetsRow>(
    em,
    sql`
    with sums as materialized (
      select ${bucket ? BUCKETS[bucket] : NOTHING} as point, ${one} as one, ${two} as two, ${three} as three,
        sum(requests) as requests, sum(failed) as failed, sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens, sum(cached_tokens) as cached_tokens, sum(cost) as cost
      from ${source} u group by 1, 2, 3, 4)
    select (select to_json(t) from (select ${SUMS} from sums) t) as totals,
      ${bucket ? seriesOf(request) : NOTHING} as series,
      ${groupBy.length > 0 ? groupsOf(request) : NOTHING} as groups`,
  );
  if (!row) throw new Error('The summary query returned no row.');
  return {
    totals: toTotals(row.totals),
    series: (row.series ?? []).map(({ at, key, ...sums }) => ({
      at: toDate(at),
      key,
      totals: toTotals(sums),
    })),
    groups: (row.groups ?? []).map(({ key, label, ...sums }) => ({
      key,
      label: label ?? key,
      totals: toTotals(sums),
    })),
  };
}

function seriesOf({ groupBy: [dimension], pointsMax }: SetsRequest): Statement {
  return sql`(select json_agg(p) from (
    select s.*, point::text as at, ${keyOf(dimension, sql`one`)} as key
    from (select point, one, ${SUMS} from sums group by 1, 2 order by 1, 2 limit ${pointsMax}) s) p)`;
}

function groupsOf({ groupBy, groupsMax }: SetsRequest): Statement {
  const key = [sql`one`, sql`two`, sql`three`]
    .slice(0, groupBy.length)
    .map((column, at) => keyOf(groupBy[at], column))
    .reduce((left, right) => sql`${left} || '/' || ${right}`);
  const [only, ...others] = groupBy;
  const label = only && others.length === 0 ? (LABELS[only] ?? NOTHING) : NOTHING;
  return sql`(select json_agg(g) from (
    select s.*, ${key} as key, ${label} as label
    from (select one, two, three, ${SUMS} from sums group by 1, 2, 3
      order by sum(cost) desc, 1, 2, 3 limit ${groupsMax}) s
    order by cost::bigint desc, key) g)`;
}

function keyOf(dimension: Dimension | undefined, column: Statement): Statement {
  return dimension === 'USER' ? sql`(select user_id from wallet where id = s.${column})` : sql`s.${column}`;
}

function toTotals({ requests, failed, input, output, cached, cost }: SumsRow): Totals {
  return {
    requests,
    failed,
    inputTokens: input,
    outputTokens: output,
    cachedTokens: cached,
    cost: BigInt(cost),
  };
}
