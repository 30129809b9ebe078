/** The single row of the storefront: whether pools are on sale, and the terms. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';

export type StorefrontState = 'OPEN' | 'CLOSED';

/** Id of the single row. */
export const STOREFRONT_ID = 1;

export const StorefrontSchema = defineEntity({
  name: 'Storefront',
  tableName: 'storefront',
  properties: {
    id: p.integer().primary(),
    state: p.text().$type<StorefrontState>(),
    message: p.text().nullable(),
    /** Micro-USD per period with up to `includedModels` models. */
    basePrice: p.bigint('bigint'),
    includedModels: p.integer(),
    /** Micro-USD per period for each further model. */
    extraModelPrice: p.bigint('bigint'),
    periodDays: p.integer(),
    rpmCap: p.integer(),
    /** Micro-USD of gift credit per bought period. */
    giftCredit: p.bigint('bigint'),
    maxModels: p.integer(),
    /** Null offers every published model. */
    offeredModelIds: p.array<string>().nullable(),
    /** Whether requests with pool keys are free, because the period is paid. */
    requestsFree: p.boolean(),
    /**
     * When an administrator last confirmed the prices; null until then, and the storefront cannot be opened.
     */
    pricesConfirmedAt: p.datetime().nullable(),
    changedAt: p.datetime().onUpdate(() => new Date()),
    version: p.integer().version(),
  },
});
export type StorefrontRow = InferEntity<typeof StorefrontSchema>;
