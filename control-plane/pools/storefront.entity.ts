/** The row of the storefront: what is on sale, and on which terms. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';

export type StorefrontState = 'OPEN' | 'CLOSED';

/** The only row's id. */
export const STOREFRONT_ID = 1;

export const StorefrontSchema = defineEntity({
  name: 'Storefront',
  tableName: 'storefront',
  properties: {
    id: p.integer().primary(),
    state: p.text().$type<StorefrontState>(),
    message: p.text().nullable(),
    /** Micro-USD of a period, for the first `includedModels`. */
    basePrice: p.bigint('bigint'),
    includedModels: p.integer(),
    /** Micro-USD of a period, for each model beyond. */
    extraModelPrice: p.bigint('bigint'),
    periodDays: p.integer(),
    rpmCap: p.integer(),
    /** Micro-USD of gift credit for each period bought. */
    giftCredit: p.bigint('bigint'),
    maxModels: p.integer(),
    /** Null offers every published model. */
    offeredModelIds: p.array<string>().nullable(),
    /** Whether requests with a pool's key cost nothing, for the period is paid. */
    requestsFree: p.boolean(),
    /** When an administrator first stood by the prices; without it the storefront cannot open. */
    pricesConfirmedAt: p.datetime().nullable(),
    changedAt: p.datetime().onUpdate(() => new Date()),
    version: p.integer().version(),
  },
});
export type StorefrontRow = InferEntity<typeof StorefrontSchema>;
