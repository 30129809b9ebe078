/** Buys pools and further periods of pools, each in one transaction. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import { audit } from '../audit/audit.service.ts';
import { groupRatios } from '../catalog/catalog.service.ts';
import { ModelSchema } from '../catalog/model.entity.ts';
import type { ModelRow } from '../catalog/model.entity.ts';
import { modelRecord } from '../catalog/model.record.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { publish } from '../database/events.ts';
import { once } from '../graphql/idempotency.ts';
import { newId } from '../database/ids.ts';
import { inTransaction } from '../database/sql.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';
import { payForPeriod, withRecalledCash } from './payment.ts';
import type { PeriodPayment } from './payment.ts';
import { PoolModelSchema, PoolPeriodSchema, PoolQuoteSchema, PoolSchema } from './pool.entity.ts';
import type { PoolPeriodRow, PoolQuoteRow, PoolRow } from './pool.entity.ts';
import { lockPool } from './pool.queries.ts';
import { announcePool } from './pool.record.ts';
import { checkPoolName, checkSubdomain, isAutoRenewalDue, stateOf } from './pool.rules.ts';
import { checkRenewable, chosenModels, nextStart } from './quote.service.ts';
import { periodFrom } from './quote.rules.ts';
import { requireOpenStorefront } from './storefront.service.ts';
import { takeSubdomain } from './subdomain.service.ts';

/** The buyer, and the actor for ledger and audit log. */
export interface Buyer {
  userId: string;
  actor: Actor;
}

/** The purchase of a pool; `expectedTotal` is the total of the quote in micro-USD. */
export interface PurchaseInput {
  quoteId: string;
  name: string;
  subdomain: string;
  autoRenew: boolean;
  expectedTotal: Micros;
  idempotencyKey: string;
}

/** The purchase of another period; `expectedTotal` is the total of the quote in micro-USD. */
export interface RenewalInput {
  poolId: string;
  /** Set only by the job: the renewal is refused unless automatic renewal is still due. */
  automatic?: boolean;
  quoteId: string;
  expectedTotal: Micros;
  idempotencyKey: string;
}

/** The result of a purchase or renewal. */
export interface Purchase {
  pool: PoolRow;
  period: PoolPeriodRow;
  replayed: boolean;
}

/**
 * Buys a pool. The same idempotency key with the same input returns the first purchase. Throws NOT_FOUND,
 * INVALID, SUBDOMAIN_RESERVED, SUBDOMAIN_TAKEN, STOREFRONT_CLOSED, QUOTE_EXPIRED, PRICE_CHANGED, CONFLICT (a
 * used quote), MODEL_UNAVAILABLE, WALLET_FROZEN, INSUFFICIENT_BALANCE, IDEMPOTENCY_MISMATCH.
 */
export async function purchasePool(em: EntityManager, buyer: Buyer, input: PurchaseInput): Promise<Purchase> {
  const { idempotencyKey, ...rest } = input;
  const wanted = { ...rest, name: checkPoolName(input.name), subdomain: checkSubdomain(input.subdomain) };
  const guard = { actor: buyer.userId, mutation: 'poolPurchase', key: idempotencyKey, input: wanted };
  const walletId = await ensureWallet(em, buyer.userId);
  return withRecalledCash(em, { walletId, amount: input.expectedTotal }, () =>
    inTransaction(em, async (inner) => {
      const { id, replayed } = await once(inner, guard, () => buy(inner, { ...buyer, walletId }, wanted));
      return { ...(await purchaseOf(inner, id)), replayed };
    }),
  );
}

/**
 * Buys another period of the buyer's own pool from its end on, with the same models, subdomain and keys; a
 * pool that ended at most 14 days ago runs again. Works while the storefront is closed. Throws like
 * `purchasePool`, POOL_EXPIRED for a pool that can no longer be renewed, and CONFLICT if the pool was renewed
 * or extended since the quote.
 */
export async function renewPool(em: EntityManager, buyer: Buyer, input: RenewalInput): Promise<Purchase> {
  const { idempotencyKey, ...wanted } = input;
  const guard = { actor: buyer.userId, mutation: 'poolRenew', key: idempotencyKey, input: wanted };
  const walletId = await ensureWallet(em, buyer.userId);
  return withRecalledCash(em, { walletId, amount: input.expectedTotal }, () =>
    inTransaction(em, async (inner) => {
      const { id, replayed } = await once(inner, guard, () => extend(inner, { ...buyer, walletId }, wanted));
      return { ...(await purchaseOf(inner, id)), replayed };
    }),
  );
}

type Payer = Buyer & { walletId: string };

async function buy(
  em: EntityManager,
  payer: Payer,
  wanted: Omit<PurchaseInput, 'idempotencyKey'>,
): Promise<string> {
  const terms = await requireOpenStorefront(em);
  const quote = await lockQuote(em, payer.userId, { ...wanted, renewPoolId: null });
  await em.find(ModelSchema, { id: { $in: quote.modelIds } }, { lockMode: LockMode.PESSIMISTIC_READ });
  const models = await chosenModels(em, terms, quote.modelIds);
  const released = await takeSubdomain(em, payer.userId, wanted.subdomain);
  const poolId = newId('pool');
  const description = `Dedicated pool ${wanted.subdomain}`;
  await payForPeriod(em, { ...paymentOf(payer, quote), poolId, number: 1, description });
  const dates = periodFrom(new Date(), quote.periodDays);
  const pool = em.create(PoolSchema, {
    id: poolId,
    ownerId: payer.userId,
    walletId: payer.walletId,
    name: wanted.name,
    subdomain: wanted.subdomain,
    rpmCap: quote.rpmCap,
    state: 'ACTIVE',
    autoRenew: wanted.autoRenew,
    ...dates,
  });
  await em.flush();
  await freeze(em, pool, models);
  const periodId = await addPeriod(em, payer, { pool, quote, number: 1, ...dates });
  if (released) await announcePool(em, released);
  return periodId;
}

async function extend(
  em: EntityManager,
  payer: Payer,
  wanted: Omit<RenewalInput, 'idempotencyKey'>,
): Promise<string> {
  const pool = await lockPool(em, wanted.poolId, payer.userId);
  checkRenewable(pool);
  // The owner or another control plane may have renewed the pool since the job found it due.
  if (wanted.automatic && !isAutoRenewalDue(pool, new Date()))
    throw new UserFailure('CONFLICT', 'Automatic renewal of this pool is no longer due.');
  const quote = await lockQuote(em, payer.userId, { ...wanted, renewPoolId: pool.id });
  if (quote.renewFrom?.getTime() !== pool.endsAt.getTime())
    throw new UserFailure('CONFLICT', 'The pool was renewed or extended meanwhile. Ask for a new quote.');
  const number = (await em.count(PoolPeriodSchema, { poolId: pool.id })) + 1;
  const description = `Dedicated pool ${pool.subdomain}, another period`;
  await payForPeriod(em, { ...paymentOf(payer, quote), poolId: pool.id, number, description });
  const dates = periodFrom(nextStart(pool), quote.periodDays);
  pool.endsAt = dates.endsAt;
  pool.state = stateOf(pool, new Date());
  return addPeriod(em, payer, { pool, quote, number, ...dates });
}

/** Locks the user's quote. Throws NOT_FOUND, CONFLICT if it was used, QUOTE_EXPIRED, PRICE_CHANGED. */
async function lockQuote(
  em: EntityManager,
  userId: string,
  wanted: { quoteId: string; renewPoolId: string | null; expectedTotal: Micros },
): Promise<PoolQuoteRow> {
  const quote = await em.findOne(
    PoolQuoteSchema,
    { id: wanted.quoteId, userId, renewPoolId: wanted.renewPoolId },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!quote) throw new UserFailure('NOT_FOUND', 'Unknown quote. Ask for a new one.', 'quoteId');
  if (quote.usedAt)
    throw new UserFailure('CONFLICT', 'This quote was already used. Ask for a new one.', 'quoteId');
  if (quote.expiresAt <= new Date())
    throw new UserFailure(
      'QUOTE_EXPIRED',
      'This quote is older than 15 minutes. Ask for a new one.',
      'quoteId',
    );
  if (quote.total === wanted.expectedTotal) return quote;
  throw new UserFailure(
    'PRICE_CHANGED',
    'The total differs from the quote. Review the quote, then try again.',
    'expectedTotal',
  );
}

function paymentOf(
  payer: Payer,
  quote: PoolQuoteRow,
): Pick<PeriodPayment, 'walletId' | 'total' | 'gift' | 'kind' | 'actor'> {
  return {
    walletId: payer.walletId,
    total: quote.total,
    gift: quote.giftCredit,
    kind: quote.renewPoolId ? 'POOL_RENEWAL' : 'POOL_PURCHASE',
    actor: payer.actor,
  };
}

/**
 * Copies the models with their present prices into the pool; later changes of the catalog do not affect them.
 */
async function freeze(em: EntityManager, pool: PoolRow, models: readonly ModelRow[]): Promise<void> {
  const ratios = await groupRatios(em);
  models.forEach((model, position) => {
    const { kind: _, ...record } = modelRecord(model, ratios);
    em.create(PoolModelSchema, { poolId: pool.id, modelId: model.id, position, record });
  });
  await em.flush();
}

interface NewPeriod {
  pool: PoolRow;
  quote: PoolQuoteRow;
  number: number;
  startsAt: Date;
  endsAt: Date;
}

/**
 * Stores the period, marks the quote as used, and publishes the change to the audit log, open pages and
 * nodes.
 */
async function addPeriod(em: EntityManager, payer: Payer, parts: NewPeriod): Promise<string> {
  const { pool, quote, number, startsAt, endsAt } = parts;
  quote.usedAt = new Date();
  const period = em.create(PoolPeriodSchema, {
    id: newId('per'),
    poolId: pool.id,
    number,
    quoteId: quote.id,
    startsAt,
    endsAt,
    paid: quote.total,
    giftGranted: quote.giftCredit,
    refunded: 0n,
  });
  await em.flush();
  await audit(em, {
    actor: payer.actor,
    action: number === 1 ? 'pool.purchase' : 'pool.renew',
    targetType: 'Pool',
    targetId: pool.id,
    after: {
      subdomain: pool.subdomain,
      number,
      paid: formatDollars(quote.total),
      gift: formatDollars(quote.giftCredit),
      endsAt: endsAt.toISOString(),
    },
    reason: reasonOf(payer.actor, number),
  });
  await publish(em, 'poolUpdated', { audience: pool.ownerId, id: pool.id });
  await announcePool(em, pool);
  return period.id;
}

function reasonOf(actor: Actor, number: number): string {
  if (number === 1) return 'Bought by the owner.';
  return actor.kind === 'SYSTEM' ? 'Renewed automatically.' : 'Renewed by the owner.';
}

async function purchaseOf(em: EntityManager, periodId: string): Promise<Omit<Purchase, 'replayed'>> {
  const period = await em.findOneOrFail(PoolPeriodSchema, { id: periodId });
  return { period, pool: await em.findOneOrFail(PoolSchema, { id: period.poolId }) };
}
