/** Rows of dedicated pools: the pools, their frozen models, what was paid for them, and quotes. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import type { FrozenModelRecord } from '@gateway/shared/records';
import type { QuoteLine } from './quote.rules.ts';

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
    /** False once somebody else may have the subdomain; such a pool cannot be renewed any more. */
    holdsSubdomain: p.boolean().default(true),
    rpmCap: p.integer(),
    /** What its owner was last told; what holds now is said by `stateOf`. */
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
    /** The model as it was at the purchase, prices included. The database refuses changes. */
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
    /** 1 is the purchase. */
    number: p.integer(),
    quoteId: p.text(),
    startsAt: p.datetime(),
    endsAt: p.datetime(),
    /** Micro-USD of cash. */
    paid: p.bigint('bigint'),
    /** Micro-USD of gift credit. */
    giftGranted: p.bigint('bigint'),
    /** Micro-USD of cash that came back when the pool was cancelled. */
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
    /** The end of the pool that a renewal was quoted for: once it moved, the quote is void. */
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
