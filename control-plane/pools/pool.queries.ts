/** Reading pools: single ones, lists with filters, and how many freeze a model. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../errors.ts';
import { all, query, queryOne, sql } from '../sql.ts';
import type { Statement } from '../sql.ts';
import { PoolModelSchema, PoolPeriodSchema, PoolQuoteSchema, PoolSchema } from './pool.entity.ts';
import type { PoolPeriodRow, PoolRow, PoolState } from './pool.entity.ts';
import { EXPIRING_MS, isRunning } from './pool.rules.ts';
import { periodFrom } from './quote.rules.ts';
import type { PaidPeriod } from './refund.rules.ts';

/** Pools of one model that a list names. */
const FREEZING_MAX = 100;

export interface PoolQuery {
  /** Null for every owner: administrators only. */
  ownerId: string | null;
  states?: readonly PoolState[] | null;
  /** Part of the name, the subdomain or the owner's address, or a whole id. */
  search?: string | null;
}

/** Pools, newest first, those before the id `before`. */
export async function findPools(
  em: EntityManager,
  wanted: PoolQuery,
  page: { before?: string | undefined; limit: number },
): Promise<PoolRow[]> {
  const older = page.before === undefined ? sql`true` : sql`p.id < ${page.before}`;
  const rows = await query<{ id: string }>(
    em,
    sql`select p.id from pools p where ${conditionOf(wanted)} and ${older}
    order by p.id desc limit ${page.limit}`,
  );
  const ids = rows.map((row) => row.id);
  return ids.length === 0 ? [] : em.find(PoolSchema, { id: { $in: ids } }, { orderBy: { id: 'desc' } });
}

/** How many pools match. */
export async function countPools(em: EntityManager, wanted: PoolQuery): Promise<number> {
  const row = await queryOne<{ count: number }>(
    em,
    sql`select count(*)::integer as count from pools p where ${conditionOf(wanted)}`,
  );
  return row?.count ?? 0;
}

/** A pool by its id, whoever owns it: the caller checks who asks. */
export function anyPool(em: EntityManager, id: string): Promise<PoolRow | null> {
  return em.findOne(PoolSchema, { id });
}

/** Pools by id, whoever owns them: the caller checks who asks. */
export function poolsById(em: EntityManager, ids: readonly string[]): Promise<PoolRow[]> {
  return ids.length === 0 ? Promise.resolve([]) : em.find(PoolSchema, { id: { $in: [...ids] } });
}

/** The pool, locked until the transaction ends; that of this owner, where one is named. Throws NOT_FOUND. */
export async function lockPool(em: EntityManager, id: string, ownerId?: string): Promise<PoolRow> {
  const pool = await em.findOne(
    PoolSchema,
    { id, ...(ownerId !== undefined && { ownerId }) },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!pool) throw noPool();
  return pool;
}

/**
 * The id of the owner's pool for a new key; it cannot end before the transaction does. Throws NOT_FOUND,
 * POOL_EXPIRED.
 */
export async function poolForKey(em: EntityManager, ownerId: string, id: string): Promise<string> {
  const pool = await em.findOne(PoolSchema, { id, ownerId }, { lockMode: LockMode.PESSIMISTIC_READ });
  if (!pool) throw noPool('poolId');
  if (isRunning(pool, new Date())) return pool.id;
  throw new UserFailure('POOL_EXPIRED', 'The pool has ended. Renew it, then make the key.', 'poolId');
}

/** What was paid for a pool, newest first. */
export function periodsOf(em: EntityManager, poolId: string): Promise<PoolPeriodRow[]> {
  return em.find(PoolPeriodSchema, { poolId }, { orderBy: { number: 'desc' } });
}

/** What was paid for each of these periods, and until when that reaches. */
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

/** Whether the pool froze each of these models. */
export async function freezesAll(
  em: EntityManager,
  poolId: string,
  modelIds: readonly string[],
): Promise<boolean> {
  const found = await em.count(PoolModelSchema, { poolId, modelId: { $in: [...modelIds] } });
  return found === new Set(modelIds).size;
}

/** How many running pools hold a frozen copy of the model. */
export async function poolsFreezing(em: EntityManager, modelId: string): Promise<number> {
  const row = await queryOne<{ count: number }>(
    em,
    sql`select count(*)::integer as count from pool_models m join pools p on p.id = m.pool_id
    where m.model_id = ${modelId} and p.state <> 'CANCELLED' and p.ends_at > now()`,
  );
  return row?.count ?? 0;
}

/** Which running pools hold a frozen copy of these models: of each a hundred, those that last longest. */
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

/** What is said of a pool that does not exist or belongs to somebody else. */
export function noPool(field = 'id'): UserFailure {
  return new UserFailure('NOT_FOUND', 'There is no such pool.', field);
}

/** The state by the clock, as `stateOf` has it, for the rows `p`. */
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

/** Pools whose state by the clock is another than the one their owners were told of. */
export async function poolsThatTurned(em: EntityManager, limit: number): Promise<string[]> {
  const rows = await query<{ id: string }>(
    em,
    sql`select p.id from pools p where p.state <> ${STATE} order by p.id limit ${limit}`,
  );
  return rows.map((row) => row.id);
}
