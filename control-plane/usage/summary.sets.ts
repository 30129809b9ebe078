/** Totals, points and groups of one source, from a single pass over its rows. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { queryOne, sql, toDate } from '../sql.ts';
import type { Statement } from '../sql.ts';

export type Dimension = 'MODEL' | 'KEY' | 'POOL' | 'SOURCE' | 'STATUS' | 'GROUP' | 'USER';
export type BucketWidth = 'HOUR' | 'DAY' | 'WEEK' | 'MONTH';

export interface Totals {
  requests: number;
  failed: number;
  inputTokens: string;
  outputTokens: string;
  cost: bigint;
}

/** What is wanted of a source: points of its first dimension where a width is given, groups of all. */
export interface Wish {
  /** At most three. */
  groupBy: readonly Dimension[];
  bucket: BucketWidth | null;
  /** Later points and cheaper groups are left out. */
  pointsMax: number;
  groupsMax: number;
}

export interface Sets {
  totals: Totals;
  /** In order of time. */
  series: { at: Date; key: string | null; totals: Totals }[];
  /** The dearest first. */
  groups: { key: string; label: string; totals: Totals }[];
}

const NOTHING = sql`null::text`;

/** Where the point begins that a row belongs to; weeks begin on Mondays. Cheaper than the calendar's way. */
const BUCKETS: Record<BucketWidth, Statement> = {
  HOUR: sql`date_bin('1 hour', at, '1970-01-05T00:00Z')`,
  DAY: sql`date_bin('1 day', at, '1970-01-05T00:00Z')`,
  WEEK: sql`date_bin('7 days', at, '1970-01-05T00:00Z')`,
  MONTH: sql`date_trunc('month', at, 'UTC')`,
};

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

const SUMS = sql`coalesce(sum(requests), 0)::integer as requests, coalesce(sum(failed), 0)::integer as failed,
  coalesce(sum(input_tokens), 0)::text as input, coalesce(sum(output_tokens), 0)::text as output,
  coalesce(sum(cost), 0)::text as cost`;

interface SumsRow {
  requests: number;
  failed: number;
  input: string;
  output: string;
  cost: string;
}
interface SetsRow {
  totals: SumsRow;
  series: (SumsRow & { at: string; key: string | null })[] | null;
  groups: (SumsRow & { key: string; label: string | null })[] | null;
}

/** Adds up a source (see summary.source.ts). */
export async function setsOf(em: EntityManager, source: Statement, wish: Wish): Promise<Sets> {
  const { groupBy, bucket } = wish;
  const [one = NOTHING, two = NOTHING, three = NOTHING] = groupBy.map((dimension) => COLUMNS[dimension]);
  const row = await queryOne<SetsRow>(
    em,
    sql`
    with sums as materialized (
      select ${bucket ? BUCKETS[bucket] : NOTHING} as point, ${one} as one, ${two} as two, ${three} as three,
        sum(requests) as requests, sum(failed) as failed, sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens, sum(cost) as cost
      from ${source} u group by 1, 2, 3, 4)
    select (select to_json(t) from (select ${SUMS} from sums) t) as totals,
      ${bucket ? seriesOf(wish) : NOTHING} as series,
      ${groupBy.length > 0 ? groupsOf(wish) : NOTHING} as groups`,
  );
  if (!row) throw new Error('a sum has no row');
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

function seriesOf({ groupBy: [dimension], pointsMax }: Wish): Statement {
  return sql`(select json_agg(p) from (
    select s.*, point::text as at, ${keyOf(dimension, sql`one`)} as key
    from (select point, one, ${SUMS} from sums group by 1, 2 order by 1, 2 limit ${pointsMax}) s) p)`;
}

function groupsOf({ groupBy, groupsMax }: Wish): Statement {
  const key = [sql`one`, sql`two`, sql`three`]
    .slice(0, groupBy.length)
    .map((column, at) => keyOf(groupBy[at], column))
    .reduce((left, right) => sql`${left} || '/' || ${right}`);
  const isKeys = groupBy.length === 1 && groupBy[0] === 'KEY';
  // What people call a group, where that is not its key.
  const label = isKeys ? sql`(select name from api_key where id = s.one)` : NOTHING;
  return sql`(select json_agg(g) from (
    select s.*, ${key} as key, ${label} as label
    from (select one, two, three, ${SUMS} from sums group by 1, 2, 3
      order by sum(cost) desc, 1, 2, 3 limit ${groupsMax}) s
    order by cost::bigint desc, key) g)`;
}

function keyOf(dimension: Dimension | undefined, column: Statement): Statement {
  return dimension === 'USER' ? sql`(select user_id from wallet where id = s.${column})` : sql`s.${column}`;
}

function toTotals({ requests, failed, input, output, cost }: SumsRow): Totals {
  return { requests, failed, inputTokens: input, outputTokens: output, cost: BigInt(cost) };
}
