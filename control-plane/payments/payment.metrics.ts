/** Metrics of payments. */
import { Counter, Gauge } from 'prom-client';
import type { Micros } from '@gateway/shared/money';
import { registry } from '../process/metrics.ts';
import type { TopUpMethod, TopUpMovement } from './topup.rules.ts';

const MICROS_PER_CENT = 10_000n;

const movedCents = new Counter({
  name: 'gateway_payment_cents_total',
  help: 'Money that top-ups moved, in whole US cents, by method, kind and direction.',
  labelNames: ['method', 'kind', 'direction'],
  registers: [registry],
});
const movements = new Counter({
  name: 'gateway_payment_movements_total',
  help: 'Movements of wallets by top-ups, by method, kind and direction.',
  labelNames: ['method', 'kind', 'direction'],
  registers: [registry],
});

/** Events of the processor, by what was done with them. */
export const webhookEvents = new Counter({
  name: 'gateway_payment_webhook_events_total',
  help: 'Events of the card processor, by outcome.',
  labelNames: ['outcome'],
  registers: [registry],
});

/** Calls of the processor's API. */
export const processorCalls = new Counter({
  name: 'gateway_payment_processor_calls_total',
  help: 'Calls of the card processor, by result.',
  labelNames: ['result'],
  registers: [registry],
});

/** Number of corrections by comparisons with the processor. */
export const corrections = new Counter({
  name: 'gateway_payment_corrections_total',
  help: 'Differences to the card processor that were found and corrected, by kind.',
  labelNames: ['kind'],
  registers: [registry],
});

/** Top-ups that need a person. */
export const stuckTopUps = new Gauge({
  name: 'gateway_payment_stuck',
  help: 'Top-ups that an administrator should look at, by issue.',
  labelNames: ['issue'],
  registers: [registry],
});

/** When open top-ups were last compared with the processor. */
export const reconciledAt = new Gauge({
  name: 'gateway_payment_reconciled_timestamp_seconds',
  help: 'Unix time of the last comparison with the card processor; 0 without one.',
  registers: [registry],
});

/** Counts a movement of a wallet; `amount` in micro-USD, negative for debits. */
export function countMovement(method: TopUpMethod, kind: TopUpMovement['kind'], amount: Micros): void {
  const labels = { method, kind, direction: amount < 0n ? 'debit' : 'credit' };
  movements.inc(labels);
  movedCents.inc(labels, Number((amount < 0n ? -amount : amount) / MICROS_PER_CENT));
}
