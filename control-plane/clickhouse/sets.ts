/** Totals, time series and groups of the usage log, computed by ClickHouse. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../database/sql.ts';
import type { BucketWidth, Dimension, Sets, SetsRequest, Totals } from '../usage/summary.sets.ts';
import { conditionsOf } from './conditions.ts';
import type { ChConditions } from './conditions.ts';
import { integerIn, textIn } from './fields.ts';
import { ch, countOf, listOf, tableOf } from './statement.ts';
import type { ChStatement } from './statement.ts';
import type { ChRow, ClickHouseStore } from './store.ts';

/** Start of the point that a row belongs to, in seconds since 1970; weeks begin on Monday. */
export const BUCKETS: Record<BucketWidth, ChStatement> = {
  HOUR: ch`toUnixTimestamp(toStartOfHour(at))`,
  DAY: ch`toUnixTimestamp(toStartOfDay(at))`,
  WEEK: ch`toUnixTimestamp(toDateTime(toMonday(at), 'UTC'))`,
  MONTH: ch`toUnixTimestamp(toDateTime(toStartOfMonth(at), 'UTC'))`,
};

/** The column of each dimension. Users are grouped by wallet. */
export const COLUMNS: Record<Dimension, ChStatement> = {
  MODEL: ch`model_name`,
  KEY: ch`key_id`,
  POOL: ch`if(pool_id = '', 'none', pool_id)`,
  SOURCE: ch`source`,
  STATUS: ch`status`,
  GROUP: ch`upper(billing_group)`,
  USER: ch`wallet_id`,
};

const SUMS = ch`count() as requests, countIf(status <> 'SUCCEEDED') as failed,
  toString(sum(coalesce(input_tokens, 0))) as input, toString(sum(coalesce(output_tokens, 0))) as output,
  toString(sum(coalesce(cached_tokens, 0))) as cached, toString(sum(cost)) as total_cost`;

interface SetsParts {
  /** Finds the names of keys and the users of wallets. */
  em: EntityManager;
  store: ClickHouseStore;
  table: string;
}

/** Computes the sets of a range in one scan. Rejects if ClickHouse does not answer as expected. */
export async function setsIn(
  { em, store, table }: SetsParts,
  conditions: ChConditions,
  request: SetsRequest,
): Promise<Sets> {
  const { groupBy, pointsMax, groupsMax } = request;
  const rows = await store.rows(
    statementOf(request, ch`from ${tableOf(table)} final where ${conditionsOf(conditions)}`),
  );
  const ofSet = (name: SetName): ChRow[] => rows.filter((row) => textIn(row, 'set_name') === name);
  const [totals, ...others] = ofSet('totals');
  if (!totals || others.length > 0) throw new Error('ClickHouse answered a sum without one row.');
  for (const set of [ofSet('series'), ofSet('groups')])
    if (set.length > 0 && set.length < Math.max(pointsMax, groupsMax)) expectWhole(set, totals);
  const series = ofSet('series').slice(0, pointsMax);
  const groups = ofSet('groups').slice(0, groupsMax);
  const names = await namesOf(em, { groupBy, series, groups });
  return {
    totals: totalsIn(totals),
    series: series.map((row) => ({
      at: new Date(integerIn(row, 'point') * 1000),
      key: groupBy[0] ? nameIn(names, groupBy[0], textIn(row, 'd0')) : null,
      totals: totalsIn(row),
    })),
    groups: groups.map((row) => groupIn(row, groupBy, names)).toSorted(byCost),
  };
}

/**
 * Throws an Error if the rows of a set do not count as many requests as the totals. Releases of 2024 had
 * faults in grouping sets, such as https://github.com/ClickHouse/ClickHouse/issues/60051.
 */
function expectWhole(set: readonly ChRow[], totals: ChRow): void {
  const counted = set.reduce((sum, row) => sum + integerIn(row, 'requests'), 0);
  if (counted !== integerIn(totals, 'requests')) throw new Error('ClickHouse answered sets that differ.');
}

type SetName = 'totals' | 'series' | 'groups';

/**
 * Sums of all rows, by point and first dimension, and by all dimensions, each row with the name of its set. A
 * scan of a month takes most of the time, so there is one for all sets. `grouping` is 0 for a column by which
 * the set groups: https://clickhouse.com/docs/sql-reference/functions/grouping
 */
function statementOf({ groupBy, bucket, pointsMax, groupsMax }: SetsRequest, rows: ChStatement): ChStatement {
  const dimensions = [ch`d0`, ch`d1`, ch`d2`].slice(0, groupBy.length);
  const columns = groupBy.map((dimension, at) => ch`${COLUMNS[dimension]} as ${dimensions[at] ?? ch`d0`}`);
  const points = bucket ? [ch`point`, ...dimensions.slice(0, 1)] : [];
  if (bucket) columns.push(ch`${BUCKETS[bucket]} as point`);
  const isSeries = bucket ? ch`grouping(point) = 0` : ch`false`;
  const isGroup = groupBy.length > 0 ? ch`grouping(d0) = 0` : ch`false`;
  const sets = [points, dimensions].filter((set) => set.length > 0).map((set) => ch`(${listOf(set)})`);
  const order = [
    ch`set_name`,
    ...points.slice(0, 1),
    ch`if(set_name = 'groups', -sum(cost), 0)`,
    ...dimensions,
  ];
  return ch`select ${listOf([...columns, SUMS])},
      multiIf(${isSeries}, 'series', ${isGroup}, 'groups', 'totals') as set_name
    ${rows} group by grouping sets (${listOf([ch`()`, ...sets])})
    order by ${listOf(order)} limit ${countOf(Math.max(1, pointsMax, groupsMax))} by set_name`;
}

type Group = Sets['groups'][number];

function groupIn(row: ChRow, groupBy: readonly Dimension[], names: Names): Group {
  const parts = groupBy.map((dimension, at) => ({ dimension, text: textIn(row, `d${at}`) }));
  const key = parts.map(({ dimension, text }) => nameIn(names, dimension, text)).join('/');
  const [only, ...others] = groupBy;
  const label = only && others.length === 0 ? names.labels.get(textIn(row, 'd0')) : undefined;
  return { key, label: label ?? key, totals: totalsIn(row) };
}

/** By descending cost, then by key, like PostgreSQL. */
function byCost(left: Group, right: Group): number {
  const difference = right.totals.cost - left.totals.cost;
  if (difference !== 0n) return difference > 0n ? 1 : -1;
  return left.key < right.key ? -1 : 1;
}

function totalsIn(row: ChRow): Totals {
  return {
    requests: integerIn(row, 'requests'),
    failed: integerIn(row, 'failed'),
    inputTokens: BigInt(textIn(row, 'input')).toString(),
    outputTokens: BigInt(textIn(row, 'output')).toString(),
    cachedTokens: BigInt(textIn(row, 'cached')).toString(),
    cost: BigInt(textIn(row, 'total_cost')),
  };
}

/** Labels of values of the first dimension, and users by wallet. */
interface Names {
  labels: ReadonlyMap<string, string>;
  users: ReadonlyMap<string, string>;
}

/** A dimension's value as the API shows it: users instead of wallets. */
export function nameIn(names: Names, dimension: Dimension, text: string): string {
  return dimension === 'USER' ? (names.users.get(text) ?? text) : text;
}

/** The names that the rows of sets need. */
export async function namesOf(
  em: EntityManager,
  {
    groupBy,
    series,
    groups,
  }: { groupBy: readonly Dimension[]; series: readonly ChRow[]; groups: readonly ChRow[] },
): Promise<Names> {
  const texts = (dimension: Dimension): string[] => {
    const at = groupBy.indexOf(dimension);
    if (at < 0) return [];
    return [...new Set([...groups, ...(at === 0 ? series : [])].map((row) => textIn(row, `d${at}`)))];
  };
  return {
    labels: groupBy[0] ? await labelsOf(em, groupBy[0], texts(groupBy[0])) : new Map(),
    users: await pairs(
      em,
      texts('USER'),
      (ids) => sql`select id, user_id as value from wallet where id = any(${ids}::text[])`,
    ),
  };
}

/** Statements that find the labels of values where they differ from the values. */
const LABELS: Partial<Record<Dimension, (ids: string[]) => ReturnType<typeof sql>>> = {
  KEY: (ids) => sql`select id, name as value from api_key where id = any(${ids}::text[])`,
  POOL: (ids) => sql`select id, name as value from pools where id = any(${ids}::text[])`,
  USER: (ids) => sql`select w.id, u.email as value from wallet w join users u on u.id = w.user_id
    where w.id = any(${ids}::text[])`,
};

async function labelsOf(
  em: EntityManager,
  dimension: Dimension,
  ids: string[],
): Promise<ReadonlyMap<string, string>> {
  const statement = LABELS[dimension];
  return statement ? pairs(em, ids, statement) : new Map();
}

async function pairs(
  em: EntityManager,
  ids: string[],
  statement: (ids: string[]) => ReturnType<typeof sql>,
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await query<{ id: string; value: string }>(em, statement(ids));
  return new Map(rows.map(({ id, value }) => [id, value]));
}
