/** Quotes: prices that are valid for 15 minutes, for a new pool or another period of a pool. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ModelRow } from '../catalog/model.entity.ts';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { PoolQuoteSchema } from './pool.entity.ts';
import type { PoolQuoteRow, PoolRow } from './pool.entity.ts';
import { lockPool } from './pool.queries.ts';
import { isRenewable } from './pool.rules.ts';
import { frozenModels } from './pool.record.ts';
import { DAY_MS, linesOf, periodFrom, QUOTE_MS, totalOf } from './quote.rules.ts';
import { offeredModels, requireOpenStorefront, storefront } from './storefront.service.ts';
import type { StorefrontRow } from './storefront.entity.ts';

/** Maximum number of open quotes per user. */
const OPEN_MAX = 50;
/** A pool can be renewed only while its end is at most this far ahead, in ms. */
const AHEAD_MS_MAX = 366 * DAY_MS;
/** Unused quotes are deleted this many days after they expired. */
const KEPT_DAYS = 1;

/**
 * Creates a quote for a new pool with these models. Throws STOREFRONT_CLOSED, INVALID, LIMIT_REACHED,
 * MODEL_UNAVAILABLE.
 */
export async function quotePool(
  em: EntityManager,
  userId: string,
  modelIds: readonly string[],
): Promise<PoolQuoteRow> {
  return inTransaction(em, async (inner) => {
    const terms = await requireOpenStorefront(inner);
    const models = await chosenModels(inner, terms, modelIds);
    const dates = periodFrom(new Date(), terms.periodDays);
    return insertQuote(inner, terms, {
      userId,
      ...dates,
      rpmCap: terms.rpmCap,
      modelIds: models.map((model) => model.id),
    });
  });
}

/**
 * Creates a quote for another period of the user's pool at present prices, from the pool's end or from now if
 * it has ended. Works while the storefront is closed. Throws NOT_FOUND, POOL_EXPIRED, LIMIT_REACHED.
 */
export async function quoteRenewal(em: EntityManager, userId: string, poolId: string): Promise<PoolQuoteRow> {
  return inTransaction(em, async (inner) => {
    const pool = await lockPool(inner, poolId, userId);
    checkRenewable(pool);
    const terms = await storefront(inner);
    const models = await frozenModels(inner, pool.id);
    return insertQuote(inner, terms, {
      userId,
      ...periodFrom(nextStart(pool), terms.periodDays),
      renewPoolId: pool.id,
      renewFrom: pool.endsAt,
      rpmCap: pool.rpmCap,
      modelIds: models.map((model) => model.modelId),
    });
  });
}

/**
 * Start of the next period: the end of the pool, so that an early renewal loses no time, or now if it has
 * ended.
 */
export function nextStart(pool: Pick<PoolRow, 'endsAt'>): Date {
  return new Date(Math.max(pool.endsAt.getTime(), Date.now()));
}

/** Throws POOL_EXPIRED if the pool can no longer be renewed, and LIMIT_REACHED if it is paid a year ahead. */
export function checkRenewable(pool: PoolRow): void {
  if (!isRenewable(pool, new Date())) {
    throw new UserFailure(
      'POOL_EXPIRED',
      'This pool was cancelled or ended more than 14 days ago. Buy a new one.',
    );
  }
  if (pool.endsAt.getTime() <= Date.now() + AHEAD_MS_MAX) return;
  throw new UserFailure('LIMIT_REACHED', 'The pool is paid for a year ahead. Renew it later.');
}

/**
 * The models in the given order. Throws INVALID for none, duplicates or too many, and MODEL_UNAVAILABLE if
 * one is not offered.
 */
export async function chosenModels(
  em: EntityManager,
  terms: StorefrontRow,
  modelIds: readonly string[],
): Promise<ModelRow[]> {
  if (
    modelIds.length === 0 ||
    modelIds.length > terms.maxModels ||
    new Set(modelIds).size < modelIds.length
  ) {
    throw new UserFailure('INVALID', `Choose 1 to ${terms.maxModels} different models.`, 'modelIds');
  }
  const offered = await offeredModels(em, terms);
  return modelIds.map((id) => {
    const model = offered.find((row) => row.id === id);
    if (model) return model;
    throw new UserFailure(
      'MODEL_UNAVAILABLE',
      'One of these models is not offered now. Choose other models.',
      'modelIds',
    );
  });
}

/** A quote of the user; null if it is unknown. */
export function findQuote(em: EntityManager, userId: string, id: string): Promise<PoolQuoteRow | null> {
  return em.findOne(PoolQuoteSchema, { id, userId });
}

/** The newest valid renewal quote of the pool; null if there is none. */
export async function newestRenewalQuote(em: EntityManager, pool: PoolRow): Promise<PoolQuoteRow | null> {
  const [quote] = await em.find(
    PoolQuoteSchema,
    { renewPoolId: pool.id, renewFrom: pool.endsAt, usedAt: null, expiresAt: { $gt: new Date() } },
    { orderBy: { id: 'desc' }, limit: 1 },
  );
  return quote ?? null;
}

/** Job: deletes unused quotes a day after they expired. */
export async function pruneQuotes(em: EntityManager): Promise<void> {
  await query(
    em,
    sql`delete from pool_quotes
    where used_at is null and expires_at < now() - make_interval(days => ${KEPT_DAYS})`,
  );
}

type QuoteParts = Pick<PoolQuoteRow, 'userId' | 'modelIds' | 'rpmCap' | 'startsAt' | 'endsAt'> &
  Partial<Pick<PoolQuoteRow, 'renewPoolId' | 'renewFrom'>>;

async function insertQuote(
  em: EntityManager,
  terms: StorefrontRow,
  parts: QuoteParts,
): Promise<PoolQuoteRow> {
  const now = new Date();
  const open = await em.count(PoolQuoteSchema, {
    userId: parts.userId,
    usedAt: null,
    expiresAt: { $gt: now },
  });
  if (open >= OPEN_MAX)
    throw new UserFailure('LIMIT_REACHED', 'You have too many open quotes. Wait until some have expired.');
  const lines = linesOf(terms, parts.modelIds.length);
  const quote = em.create(PoolQuoteSchema, {
    ...parts,
    id: newId('quo'),
    lines,
    total: totalOf(lines),
    giftCredit: terms.giftCredit,
    periodDays: terms.periodDays,
    createdAt: now,
    expiresAt: new Date(now.getTime() + QUOTE_MS),
  });
  await em.flush();
  return quote;
}
