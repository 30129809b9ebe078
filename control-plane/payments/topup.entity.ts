/** Database rows of top-ups. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import type { Stage, TopUpMethod, TopUpState } from './topup.rules.ts';

/**
 * Reason to show a top-up to an administrator. ACCOUNT_NOT_ACTIVE: paid for a suspended or closed account.
 * CURRENCY_UNSUPPORTED: paid in another currency, and not credited. AMOUNT_DIFFERS: another amount than asked
 * for was paid, and that was credited. CREDENTIAL_REFUSED and PROCESSOR_UNREACHABLE: the last check failed.
 * NOT_AT_PROCESSOR: the processor does not know the payment. REVERSED: the chain took a credit back.
 */
export type TopUpIssue =
  | 'ACCOUNT_NOT_ACTIVE'
  | 'CURRENCY_UNSUPPORTED'
  | 'AMOUNT_DIFFERS'
  | 'NOT_AT_PROCESSOR'
  | 'PROCESSOR_UNREACHABLE'
  | 'REFUND_FAILED'
  | 'REVERSED';

/** Only `topup.service.ts` changes these rows, with SQL. Amounts are in micro-USD. */
export const TopUpSchema = defineEntity({
  name: 'TopUp',
  tableName: 'top_up',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    walletId: p.text(),
    method: p.text().$type<TopUpMethod>(),
    automatic: p.boolean(),
    /** Whether it was begun with the processor of the demo. */
    playMoney: p.boolean(),
    stage: p.text().$type<Stage>(),
    state: p.text().$type<TopUpState>(),
    /** The amount that was asked for, or that is on its way. */
    amount: p.bigint('bigint'),
    /** The amount that arrived. */
    paid: p.bigint('bigint').nullable(),
    /** Number of credits; more than one only if a chain took one back. */
    credits: p.integer(),
    /** Amount that was credited, before refunds and disputes. */
    credited: p.bigint('bigint'),
    refunded: p.bigint('bigint'),
    issue: p.text().$type<TopUpIssue>().nullable(),
    /** Identity of a deposit. */
    reference: p.text().nullable(),
    /** The processor's checkout session. */
    sessionId: p.text().nullable(),
    /** The processor's payment, which refunds and disputes name. */
    paymentId: p.text().nullable(),
    /** Whether the card of the payment is to be saved. False again once it was. */
    saveCard: p.boolean(),
    /** The processor's ids of the saved card with which an automatic top-up is paid. */
    cardCustomerId: p.text().nullable(),
    cardMethodId: p.text().nullable(),
    /** Path of the console to which the processor's page leads back. */
    returnPath: p.text().nullable(),
    checkoutUrl: p.text().nullable(),
    receiptUrl: p.text().nullable(),
    failureCode: p.text().nullable(),
    failureMessage: p.text().nullable(),
    expiresAt: p.datetime().nullable(),
    /** When the processor is asked again; null for never. */
    checkAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
export type TopUpRow = InferEntity<typeof TopUpSchema>;
