/** Rows of dedicated pools: the pools, their frozen models, their paid periods, and quotes. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import type { FrozenModelRecord } from '@gateway/shared/records';
import type { QuoteLine } from './quote.rules.ts';

/** EXPIRING: ends within a week. EXPIRED: ended, renewable for 14 days. */
export type PoolState = 'ACTIVE' | 'EXPIRING' | 'EXPIRED' | 'CANCELLED';

export const PoolSchema = defineEntity({
  name: 'Pool',
  tableName: 'pools',
  properties: {
    id: p.text().primary(),
    ownerId: p.text(),
    walletId: p.text(),
    name: p.text(),
    subdomain: p.text(),
    /** False once another pool may take the subdomain; then the pool can no longer be renewed. */
    holdsSubdomain: p.boolean().default(true),
    rpmCap: p.integer(),
    /** The last published state; `stateOf` computes the present one. */
    state: p.text().$type<PoolState>(),
    autoRenew: p.boolean(),
    startsAt: p.datetime(),
    endsAt: p.datetime(),
    createdAt: p.datetime().onCreate(() => new Date()),
    version: p.integer().version(),
  },
});
export type PoolRow = InferEntity<typeof PoolSchema>;

export const PoolModelSchema = defineEntity({
  name: 'PoolModel',
  tableName: 'pool_models',
  properties: {
    poolId: p.text().primary(),
    modelId: p.text().primary(),
    position: p.integer(),
    /** The model at the time of purchase, including prices. The database refuses changes. */
    record: p.json<FrozenModelRecord>(),
    frozenAt: p.datetime().onCreate(() => new Date()),
  },
});
export type PoolModelRow = InferEntity<typeof PoolModelSchema>;

export const PoolPeriodSchema = defineEntity({
  name: 'PoolPeriod',
  tableName: 'pool_periods',
  properties: {
    id: p.text().primary(),
    poolId: p.text(),
    /** 1 for the purchase, counting up with each renewal. */
    number: p.integer(),
    quoteId: p.text(),
    startsAt: p.datetime(),
    endsAt: p.datetime(),
    /** Micro-USD of cash. */
    paid: p.bigint('bigint'),
    /** Micro-USD of gift credit. */
    giftGranted: p.bigint('bigint'),
    /** Micro-USD of cash refunded when the pool was cancelled. */
    refunded: p.bigint('bigint'),
  },
});
export type PoolPeriodRow = InferEntity<typeof PoolPeriodSchema>;

export const PoolQuoteSchema = defineEntity({
  name: 'PoolQuote',
  tableName: 'pool_quotes',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    renewPoolId: p.text().nullable(),
    /** For a renewal: the end of the pool when it was quoted. The quote is void if the end has changed. */
    renewFrom: p.datetime().nullable(),
    modelIds: p.array<string>(),
    lines: p.json<QuoteLine[]>(),
    total: p.bigint('bigint'),
    giftCredit: p.bigint('bigint'),
    rpmCap: p.integer(),
    periodDays: p.integer(),
    startsAt: p.datetime(),
    endsAt: p.datetime(),
    createdAt: p.datetime().onCreate(() => new Date()),
    expiresAt: p.datetime(),
    usedAt: p.datetime().nullable(),
  },
});
export type PoolQuoteRow = InferEntity<typeof PoolQuoteSchema>;
