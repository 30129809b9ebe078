/** Reads and locks pools: single pools, filtered lists, paid periods, and the pools that froze a model. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readingOf } from '../database/page.ts';
import type { RowPage } from '../database/page.ts';
import { UserFailure } from '../graphql/errors.ts';
import { all, query, queryOne, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { PoolModelSchema, PoolPeriodSchema, PoolQuoteSchema, PoolSchema } from './pool.entity.ts';
import type { PoolPeriodRow, PoolRow, PoolState } from './pool.entity.ts';
import { EXPIRING_MS, isRunning } from './pool.rules.ts';
import { periodFrom } from './quote.rules.ts';
import type { PaidPeriod } from './refund.rules.ts';

/** Maximum number of pools listed per frozen model. */
const FREEZING_MAX = 100;

/** Filters of a list of pools. */
export interface PoolQuery {
  /** Null for pools of all owners, which only administrators may read. */
  ownerId: string | null;
  states?: readonly PoolState[] | null;
  /** Part of the name, the subdomain or the owner's address, or a whole id. */
  search?: string | null;
}

/** Sort field and direction of a list of pools. */
export interface PoolSorting {
  field: 'CREATED_AT' | 'NAME' | 'ENDS_AT';
  direction: 'ASC' | 'DESC';
}

/** Column of each order before the id, with its type. Ids grow with the time of creation. */
const SORTED_BY: Record<PoolSorting['field'], { column: Statement; type: Statement }> = {
  CREATED_AT: { column: sql`''`, type: sql`text` },
  NAME: { column: sql`p.name`, type: sql`text` },
  ENDS_AT: { column: sql`p.ends_at`, type: sql`timestamptz` },
};

/** A page of the pools that match, with the sort values of each. */
export async function findPools(
  em: EntityManager,
  wanted: PoolQuery,
  { order, ...page }: RowPage & { order: PoolSorting },
): Promise<{ pool: PoolRow; sortValues: string[] }[]> {
  const { orderSql, beyondSql } = readingOf(page, order.direction === 'ASC' ? 'asc' : 'desc');
  const { column, type } = SORTED_BY[order.field];
  const [value, id] = page.from ?? [];
  const beyond =
    id === undefined ? sql`true` : sql`(${column}, p.id) ${beyondSql} (${value}::text::${type}, ${id})`;
  const rows = await query<{ id: string; value: string }>(
    em,
    sql`select p.id, ${column}::text as value from pools p where ${conditionOf(wanted)} and ${beyond}
    order by ${column}::${type} ${orderSql}, p.id ${orderSql} limit ${page.limit}`,
  );
  const pools = new Map(
    (
      await poolsById(
        em,
        rows.map(({ id }) => id),
      )
    ).map((pool) => [pool.id, pool]),
  );
  return rows.flatMap(({ id, value }) => {
    const pool = pools.get(id);
    return pool ? [{ pool, sortValues: [value, id] }] : [];
  });
}

/** Number of pools that match. */
export async function countPools(em: EntityManager, wanted: PoolQuery): Promise<number> {
  const row = await queryOne<{ count: number }>(
    em,
    sql`select count(*)::integer as count from pools p where ${conditionOf(wanted)}`,
  );
  return row?.count ?? 0;
}

/** A pool of any owner; null if unknown. The caller has to check access. */
export function poolById(em: EntityManager, id: string): Promise<PoolRow | null> {
  return em.findOne(PoolSchema, { id });
}

/** Pools of any owner, without unknown ids. The caller has to check access. */
export function poolsById(em: EntityManager, ids: readonly string[]): Promise<PoolRow[]> {
  return ids.length === 0 ? Promise.resolve([]) : em.find(PoolSchema, { id: { $in: [...ids] } });
}

/** Locks the pool until the transaction ends. Throws NOT_FOUND if it is unknown or not of the given owner. */
export async function lockPool(em: EntityManager, id: string, ownerId?: string): Promise<PoolRow> {
  const pool = await em.findOne(
    PoolSchema,
    { id, ...(ownerId !== undefined && { ownerId }) },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!pool) throw unknownPool();
  return pool;
}

/**
 * The id of the owner's pool for a new key. The pool cannot be changed before the transaction ends. Throws
 * NOT_FOUND, and POOL_EXPIRED if the pool has ended.
 */
export async function poolForKey(em: EntityManager, ownerId: string, id: string): Promise<string> {
  const pool = await em.findOne(PoolSchema, { id, ownerId }, { lockMode: LockMode.PESSIMISTIC_READ });
  if (!pool) throw unknownPool('poolId');
  if (isRunning(pool, new Date())) return pool.id;
  throw new UserFailure('POOL_EXPIRED', 'The pool has ended. Renew it, then create the key.', 'poolId');
}

/** The periods of a pool, newest first. */
export function periodsOf(em: EntityManager, poolId: string): Promise<PoolPeriodRow[]> {
  return em.find(PoolPeriodSchema, { poolId }, { orderBy: { number: 'desc' } });
}

/** Payment and gift for each period, and the end of the period without added days. */
export async function paidSpans(
  em: EntityManager,
  periods: readonly PoolPeriodRow[],
): Promise<(PaidPeriod & { row: PoolPeriodRow })[]> {
  const quotes = await em.find(PoolQuoteSchema, { id: { $in: periods.map((row) => row.quoteId) } });
  const days = new Map(quotes.map(({ id, periodDays }) => [id, periodDays]));
  return periods.map((row) => {
    const { startsAt, paid, giftGranted } = row;
    const { endsAt: paidUntil } = periodFrom(startsAt, days.get(row.quoteId) ?? 0);
    return { row, startsAt, paidUntil, paid, giftGranted };
  });
}

/** Whether the pool froze all of these models. */
export async function freezesAll(
  em: EntityManager,
  poolId: string,
  modelIds: readonly string[],
): Promise<boolean> {
  const found = await em.count(PoolModelSchema, { poolId, modelId: { $in: [...modelIds] } });
  return found === new Set(modelIds).size;
}

/** Number of running pools that froze the model. */
export async function countPoolsWithModel(em: EntityManager, modelId: string): Promise<number> {
  const row = await queryOne<{ count: number }>(
    em,
    sql`select count(*)::integer as count from pool_models m join pools p on p.id = m.pool_id
    where m.model_id = ${modelId} and p.state <> 'CANCELLED' and p.ends_at > now()`,
  );
  return row?.count ?? 0;
}

/** Running pools that froze the models: for each model at most 100, those with the latest end. */
export async function poolIdsFreezing(
  em: EntityManager,
  modelIds: readonly string[],
): Promise<{ modelId: string; poolId: string }[]> {
  const rows = await query<{ model_id: string; pool_id: string }>(
    em,
    sql`select wanted.id as model_id, held.pool_id from unnest(${[...modelIds]}::text[]) as wanted (id)
    cross join lateral (select p.id as pool_id from pool_models m join pools p on p.id = m.pool_id
      where m.model_id = wanted.id and p.state <> 'CANCELLED' and p.ends_at > now()
      order by p.ends_at desc, p.id limit ${FREEZING_MAX}) held`,
  );
  return rows.map(({ model_id: modelId, pool_id: poolId }) => ({ modelId, poolId }));
}

/** The failure for a pool that is unknown or belongs to another user. */
function unknownPool(field = 'id'): UserFailure {
  return new UserFailure('NOT_FOUND', 'Unknown pool. Check its id.', field);
}

/** SQL of the present state of rows `p`, equal to `stateOf`. */
const STATE = sql`case when p.state = 'CANCELLED' then 'CANCELLED' when p.ends_at <= now() then 'EXPIRED'
  when p.ends_at <= now() + make_interval(secs => ${EXPIRING_MS / 1000}) then 'EXPIRING' else 'ACTIVE' end`;

function conditionOf({ ownerId, states, search }: PoolQuery): Statement {
  const conditions: Statement[] = [];
  if (ownerId !== null) conditions.push(sql`p.owner_id = ${ownerId}`);
  if (states) conditions.push(sql`${STATE} = any(${[...states]}::text[])`);
  const text = search?.trim();
  if (text) {
    const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
    conditions.push(sql`(p.id = ${text} or p.name ilike ${pattern} or p.subdomain ilike ${pattern}
      or exists (select from users u where u.id = p.owner_id and u.email ilike ${pattern}))`);
  }
  return all(conditions);
}

/** Ids of pools whose stored state differs from the present one. */
export async function poolsWithStaleState(em: EntityManager, limit: number): Promise<string[]> {
  const rows = await query<{ id: string }>(
    em,
    sql`select p.id from pools p where p.state <> ${STATE} order by p.id limit ${limit}`,
  );
  return rows.map((row) => row.id);
}
