/** Metrics of deriving. They hold counts and sums, never content. */
import { Counter, Gauge } from 'prom-client';
import type { Micros } from '@gateway/shared/money';
import { registry } from '../../process/metrics.ts';
import type { QueueState } from './queue.ts';

const MICROS_PER_DOLLAR = 1_000_000;

export const failures = new Counter({
  name: 'gateway_personal_failures_total',
  help: 'Failed attempts to learn from a chat, by reason.',
  labelNames: ['reason'],
  registers: [registry],
});
export const refusals = new Counter({
  name: 'gateway_personal_refused_total',
  help: 'Operations of the model that were not accepted, by reason.',
  labelNames: ['reason'],
  registers: [registry],
});
const jobs = new Gauge({
  name: 'gateway_personal_jobs',
  help: 'Chats that wait to be read, wait for the budget of the next month, or could not be read.',
  labelNames: ['state'],
  registers: [registry],
});
const age = new Gauge({
  name: 'gateway_personal_queue_age_seconds',
  help: 'Time since the oldest waiting chat was due.',
  registers: [registry],
});
const budget = new Gauge({
  name: 'gateway_personal_budget_dollars',
  help: 'What reading chats may cost this month (limit), and what it cost (spent), at list price.',
  labelNames: ['kind'],
  registers: [registry],
});

/** Sets the gauges of the queue and of the monthly budget. */
export function reportState(
  state: QueueState,
  { monthlyBudget, spentThisMonth }: { monthlyBudget: Micros; spentThisMonth: Micros },
): void {
  jobs.set({ state: 'waiting' }, state.waiting);
  jobs.set({ state: 'postponed' }, state.postponed);
  jobs.set({ state: 'quarantined' }, state.quarantined);
  age.set(state.ageSeconds);
  budget.set({ kind: 'limit' }, Number(monthlyBudget) / MICROS_PER_DOLLAR);
  budget.set({ kind: 'spent' }, Number(spentThisMonth) / MICROS_PER_DOLLAR);
}
