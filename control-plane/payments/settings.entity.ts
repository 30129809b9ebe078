/** The single row with the settings of payments by card. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';

/** Id of the single row. */
export const PAYMENT_SETTINGS_ID = 1;

/** Amounts are in micro-USD. */
export const PaymentSettingsSchema = defineEntity({
  name: 'PaymentSettings',
  tableName: 'payment_settings',
  properties: {
    id: p.integer().primary(),
    cardEnabled: p.boolean(),
    /** Origin of the processor's API. */
    apiAddress: p.text(),
    /** Sealed; null before it is set. */
    apiKey: p.text().nullable(),
    apiKeySuffix: p.text().nullable(),
    /** The only origin to which the key is sent: the address when the key was set. */
    apiOrigin: p.text().nullable(),
    managedPayments: p.boolean(),
    automaticTax: p.boolean(),
    stablecoins: p.boolean(),
    taxCode: p.text().nullable(),
    amountMin: p.bigint('bigint'),
    amountMax: p.bigint('bigint'),
    dailyMax: p.bigint('bigint'),
    presets: p.array((text) => BigInt(text)),
    /** Whether the processor is the demo's, which takes no real money. */
    playMoney: p.boolean(),
    reconciledAt: p.datetime().nullable(),
    balanceCheckedTo: p.datetime().nullable(),
    lastError: p.text().nullable(),
    lastErrorAt: p.datetime().nullable(),
    lastSuccessAt: p.datetime().nullable(),
    changedAt: p.datetime().onUpdate(() => new Date()),
    version: p.integer().version(),
  },
});
export type PaymentSettingsRow = InferEntity<typeof PaymentSettingsSchema>;
