/** Quotes: a price that holds for fifteen minutes, for a new pool or for another period of one. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ModelRow } from '../catalog/model.entity.ts';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { inTransaction, query, sql } from '../sql.ts';
import { PoolQuoteSchema } from './pool.entity.ts';
import type { PoolQuoteRow, PoolRow } from './pool.entity.ts';
import { lockPool } from './pool.queries.ts';
import { isRenewable } from './pool.rules.ts';
import { frozenModels } from './pool.record.ts';
import { DAY_MS, linesOf, periodFrom, QUOTE_MS, totalOf } from './quote.rules.ts';
import { offeredModels, openStorefront, storefront } from './storefront.service.ts';
import type { StorefrontRow } from './storefront.entity.ts';

/** Quotes of one user that may be open at a time. */
const OPEN_MAX = 50;
/** A pool is paid at most this far ahead, in ms. */
const AHEAD_MS_MAX = 366 * DAY_MS;
/** Quotes that nobody used are forgotten this long after their end. */
const KEPT_DAYS = 1;

/**
 * A quote for a new pool of these models. Throws STOREFRONT_CLOSED, INVALID, LIMIT_REACHED,
 * MODEL_UNAVAILABLE.
 */
export async function quotePool(
  em: EntityManager,
  userId: string,
  modelIds: readonly string[],
): Promise<PoolQuoteRow> {
  return inTransaction(em, async (inner) => {
    const terms = await openStorefront(inner);
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
 * A quote for another period of the user's pool at today's prices: from the pool's end, or from now where
 * that has passed. Open storefront or not. Throws NOT_FOUND, POOL_EXPIRED, LIMIT_REACHED.
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

/** When the next period of a pool begins: at the old end, so that renewing early loses nothing. */
export function nextStart(pool: Pick<PoolRow, 'endsAt'>): Date {
  return new Date(Math.max(pool.endsAt.getTime(), Date.now()));
}

/** Throws POOL_EXPIRED for a pool that cannot be renewed any more, LIMIT_REACHED for one paid far ahead. */
export function checkRenewable(pool: PoolRow): void {
  if (!isRenewable(pool, new Date())) {
    throw new UserFailure(
      'POOL_EXPIRED',
      'This pool was cancelled, or ended too long ago to be renewed. Buy a new one.',
    );
  }
  if (pool.endsAt.getTime() <= Date.now() + AHEAD_MS_MAX) return;
  throw new UserFailure('LIMIT_REACHED', 'The pool is paid for a year ahead. Renew it later.');
}

/**
 * The models in the order chosen. Throws INVALID for none, doubles or too many; MODEL_UNAVAILABLE for one
 * that is not on offer.
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
    throw new UserFailure('MODEL_UNAVAILABLE', 'One of these models is not on offer now.', 'modelIds');
  });
}

/** A quote of this user. */
export function findQuote(em: EntityManager, userId: string, id: string): Promise<PoolQuoteRow | null> {
  return em.findOne(PoolQuoteSchema, { id, userId });
}

/** The newest quote for renewing the pool that can still be used. */
export async function openRenewalQuote(em: EntityManager, pool: PoolRow): Promise<PoolQuoteRow | null> {
  const [quote] = await em.find(
    PoolQuoteSchema,
    { renewPoolId: pool.id, renewFrom: pool.endsAt, usedAt: null, expiresAt: { $gt: new Date() } },
    { orderBy: { id: 'desc' }, limit: 1 },
  );
  return quote ?? null;
}

/** Forgets quotes that nobody used. */
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
    throw new UserFailure('LIMIT_REACHED', 'You have many open quotes. Wait until some have run out.');
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
