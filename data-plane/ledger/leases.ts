/**
 * The node's money rules, as a reducer: (state, event, now) → effects. It changes the state in place and uses
 * no clock, network, disk or randomness, so the same events give the same effects.
 */
import type { Micros } from '@gateway/shared/money';
import {
  holdForWaiters,
  holdOrEnqueue,
  recordSpending,
  refuseWaiters,
  removeLeaseRequest,
  renewEarly,
  requestAgainLater,
  resend,
  resendIfDue,
} from './requesting.ts';
import type { SettledLease } from './journal-state.ts';
import {
  closeIfDone,
  closeUnknownLeases,
  drainLease,
  expireIfDue,
  recordUnknownRecall,
  retryCloseLater,
} from './closing.ts';
import { backoffMs } from './events.ts';
import type { LedgerEffect, LedgerEvent, Step } from './events.ts';
import { budgetFor, isExpired, unusedLease } from './state.ts';
import type { LedgerState, Moment, WalletBudget } from './state.ts';

/** No lease is requested early for this long after a refusal, in ms. */
const RENEW_PAUSE_MS = 5_000;
/** The node returns the leases of a wallet after this time without a hold, in ms. */
const IDLE_MS = 60_000;
/** Back-off before an unanswered lease request is sent again, in ms. */
const RESEND_MS = { first: 50, most: 1_000 };
/** The control plane counts as away after this time without an answer, in ms. Heartbeats come every 5 s. */
const SILENCE_MS = 6_000;
/** Events of client requests. They change no unknown lease, so `closeUnknownLeases` is skipped. */
const CLIENT_EVENTS: ReadonlySet<LedgerEvent['type']> = new Set(['HOLD', 'GIVE_UP', 'RELEASE', 'COMMITTED']);
/** Events that prove an answer of the control plane. */
const ANSWER_EVENTS: ReadonlySet<LedgerEvent['type']> = new Set([
  'GRANTED',
  'REFUSED',
  'CONFLICT',
  'SETTLED',
  'CLOSED',
  'CONFIRMED',
]);

type Handlers = {
  [Type in LedgerEvent['type']]: (step: Step, event: Extract<LedgerEvent, { type: Type }>) => void;
};

/** Handles one event: changes the state in place and returns the effects, in order. Never throws. */
export function applyEvent(state: LedgerState, event: LedgerEvent, now: Moment): LedgerEffect[] {
  const step: Step = { state, now, effects: [] };
  if (ANSWER_EVENTS.has(event.type)) state.lastAnswerAt = now.mono;
  const handle = HANDLERS[event.type] as (step: Step, event: LedgerEvent) => void;
  handle(step, event);
  if (state.unknownRecalls.size > 0 && !CLIENT_EVENTS.has(event.type)) closeUnknownLeases(step);
  return step.effects;
}

/** Whether a charge may still be written for a hold of this lease. Check right before the journal write. */
export function isLeaseChargeable(state: LedgerState, leaseId: string, now: Moment): boolean {
  const lease = state.leases.get(leaseId);
  return lease !== undefined && !isExpired(lease, now);
}

function onHold(step: Step, event: Extract<LedgerEvent, { type: 'HOLD' }>): void {
  const budget = budgetFor(step.state, event);
  budget.lastHoldAt = step.now.mono;
  budget.lastPrice = event.price;
  holdOrEnqueue(step, budget, { id: event.waiter, price: event.price });
  renewEarly(step, budget);
}

function onGiveUp(step: Step, event: Extract<LedgerEvent, { type: 'GIVE_UP' }>): void {
  const { waiter, budgetId, final } = event;
  const budget = step.state.budgets.get(budgetId);
  if (!budget?.waiters.some(({ id }) => id === waiter)) return;
  const isAnswering = isControlPlaneAnswering(step);
  if (isAnswering && !final) return;
  budget.waiters = budget.waiters.filter(({ id }) => id !== waiter);
  const code = isAnswering && budget.conflicts > 0 ? 'all_in_use' : 'unavailable';
  step.effects.push({ type: 'REFUSE', waiter, code });
}

/** Whether the control plane, however slow, answered recently, and no lease request failed since. */
function isControlPlaneAnswering({ state: { lastAnswerAt, lastUnansweredAt }, now }: Step): boolean {
  if (lastAnswerAt === null || now.mono - lastAnswerAt >= SILENCE_MS) return false;
  return lastAnswerAt >= (lastUnansweredAt ?? lastAnswerAt);
}

function onRelease(step: Step, { leaseId, price }: { leaseId: string; price: Micros }): void {
  const lease = step.state.leases.get(leaseId);
  if (!lease) return;
  lease.holds -= 1;
  lease.remaining += price;
  holdForWaiters(step, step.state.budgets.get(lease.budgetId));
  closeIfDone(step, lease);
}

function onCommitted(step: Step, { leaseId, price }: { leaseId: string; price: Micros }): void {
  const lease = step.state.leases.get(leaseId);
  if (!lease) return;
  lease.holds -= 1;
  lease.count += 1;
  lease.sum += price;
  const budget = step.state.budgets.get(lease.budgetId);
  if (budget) recordSpending(step, budget, price);
  closeIfDone(step, lease);
}

function onGranted(step: Step, event: Extract<LedgerEvent, { type: 'GRANTED' }>): void {
  const request = removeLeaseRequest(step, event.no);
  if (!request || step.state.leases.has(event.leaseId)) return;
  const { leaseId, amount, deadlineMs } = event;
  step.effects.push({
    type: 'WRITE',
    record: { type: 'granted', no: event.no, leaseId, amount: String(amount) },
  });
  const budget = step.state.budgets.get(request.budgetId);
  if (!budget) return;
  const lease = { ...unusedLease(leaseId, budget.id, amount), deadlineMs, confirmed: request.sentAt };
  if (request.fromEarlierProcess) Object.assign(lease, { draining: true, expired: true });
  step.state.leases.set(leaseId, lease);
  budget.leaseIds.push(leaseId);
  budget.conflicts = 0;
  budget.grantHadSurplus = amount > request.waiting;
  // A recalled lease still serves waiting requests: else two nodes could recall from each other for ever.
  holdForWaiters(step, budget);
  const recalled = step.state.unknownRecalls.delete(leaseId);
  if (recalled || step.state.stopping) lease.draining = true;
  closeIfDone(step, lease);
}

function onRefused(step: Step, event: Extract<LedgerEvent, { type: 'REFUSED' }>): void {
  const request = removeLeaseRequest(step, event.no);
  if (!request) return;
  step.effects.push({ type: 'WRITE', record: { type: 'refused', no: event.no } });
  const budget = step.state.budgets.get(request.budgetId);
  if (!budget) return;
  budget.renewAfter = step.now.mono + RENEW_PAUSE_MS;
  const isFrozen = event.code === 'wallet_frozen';
  // This node returns credit to the wallet, so a second lease request may succeed.
  if (!isFrozen && drainSpareLeases(step, budget)) return requestAgainLater(step, budget);
  refuseWaiters(step, budget, { code: event.code, minPrice: isFrozen ? 0n : request.need });
  holdForWaiters(step, budget);
}

function onConflict(step: Step, { no }: { no: number }): void {
  const request = removeLeaseRequest(step, no);
  if (!request) return;
  step.effects.push({ type: 'WRITE', record: { type: 'refused', no } });
  const budget = step.state.budgets.get(request.budgetId);
  if (!budget) return;
  budget.renewAfter = step.now.mono + RENEW_PAUSE_MS;
  drainSpareLeases(step, budget);
  requestAgainLater(step, budget);
}

/**
 * Drains all leases of the budget, because none has enough credit for a waiter. The wallet can then grant one
 * larger lease. Returns whether a lease without holds is being returned.
 */
function drainSpareLeases(step: Step, budget: WalletBudget): boolean {
  if (budget.waiters.length === 0) return false;
  let returning = false;
  for (const id of budget.leaseIds) {
    const lease = step.state.leases.get(id);
    if (!lease) continue;
    if (lease.remaining > 0n) drainLease(step, lease);
    returning ||= lease.draining && lease.holds === 0;
  }
  return returning;
}

function onUnanswered(step: Step, { no }: { no: number }): void {
  const request = step.state.requests.get(no);
  if (!request) return;
  const afterMs = backoffMs(RESEND_MS, request.attempts);
  request.attempts += 1;
  step.state.lastUnansweredAt = step.now.mono;
  request.resendAt = step.now.mono + afterMs;
  step.effects.push({ type: 'RETRY', budgetId: request.budgetId, afterMs });
}

function onUnsent(step: Step, { no }: { no: number }): void {
  const request = removeLeaseRequest(step, no);
  const budget = request && step.state.budgets.get(request.budgetId);
  if (budget) refuseWaiters(step, budget, { code: 'unavailable', minPrice: 0n });
}

function onRecall(step: Step, { leaseId }: { leaseId: string }): void {
  const lease = step.state.leases.get(leaseId);
  if (lease) {
    lease.draining = true;
    closeIfDone(step, lease);
  } else {
    recordUnknownRecall(step, leaseId);
  }
}

function onSettled(step: Step, { leases }: { leases: readonly SettledLease[] }): void {
  for (const { leaseId, count, rejected, rejectedSum } of leases) {
    const lease = step.state.leases.get(leaseId);
    if (!lease) continue;
    lease.settled += count - rejected;
    lease.count -= rejected;
    lease.sum -= BigInt(rejectedSum);
    closeIfDone(step, lease);
  }
}

function onClosed(step: Step, { leaseId }: { leaseId: string }): void {
  step.state.unknownRecalls.delete(leaseId);
  const lease = step.state.leases.get(leaseId);
  if (!lease) return;
  step.state.leases.delete(leaseId);
  step.effects.push({ type: 'WRITE', record: { type: 'closed', leaseId } });
  const budget = step.state.budgets.get(lease.budgetId);
  if (!budget) return;
  budget.leaseIds = budget.leaseIds.filter((id) => id !== leaseId);
  // The wallet has more credit now, so waiting requests need not wait for the back-off.
  budget.requestAfter = 0;
  holdForWaiters(step, budget);
}

function onConfirmed(step: Step, { sentAt }: { sentAt: Moment }): void {
  for (const lease of step.state.leases.values()) {
    expireIfDue(step, lease);
    lease.closeAfter = 0;
    closeIfDone(step, lease);
    if (lease.expired || lease.confirmed.mono >= sentAt.mono) continue;
    lease.confirmed = sentAt;
  }
  for (const recall of step.state.unknownRecalls.values()) recall.closeAfter = 0;
  // The control plane is reachable, so unanswered requests need not wait for their back-off.
  for (const request of step.state.requests.values()) resend(step, request);
}

/**
 * Resends without a look at the clock, because a timer may fire a fraction of a millisecond before the
 * back-off is over.
 */
function onRetry(step: Step, { budgetId }: { budgetId: string }): void {
  for (const request of step.state.requests.values())
    if (request.budgetId === budgetId) resend(step, request);
  const budget = step.state.budgets.get(budgetId);
  if (budget) budget.requestAfter = 0;
  holdForWaiters(step, budget);
}

function onTick(step: Step): void {
  for (const request of step.state.requests.values()) resendIfDue(step, request);
  for (const lease of step.state.leases.values()) {
    expireIfDue(step, lease);
    closeIfDone(step, lease);
  }
  // A set, because there may be as many open requests as budgets while the control plane is away.
  const withRequest = new Set<string>();
  for (const { budgetId } of step.state.requests.values()) withRequest.add(budgetId);
  for (const budget of step.state.budgets.values()) {
    if (step.now.mono - budget.lastHoldAt < IDLE_MS || budget.waiters.length > 0) continue;
    for (const id of budget.leaseIds) drainLease(step, step.state.leases.get(id));
    if (budget.leaseIds.length === 0 && !withRequest.has(budget.id)) step.state.budgets.delete(budget.id);
  }
}

function onStop(step: Step): void {
  step.state.stopping = true;
  for (const budget of step.state.budgets.values())
    refuseWaiters(step, budget, { code: 'unavailable', minPrice: 0n });
  for (const lease of step.state.leases.values()) drainLease(step, lease);
}

const HANDLERS: Handlers = {
  HOLD: onHold,
  GIVE_UP: onGiveUp,
  RELEASE: onRelease,
  COMMITTED: onCommitted,
  GRANTED: onGranted,
  REFUSED: onRefused,
  CONFLICT: onConflict,
  UNANSWERED: onUnanswered,
  UNSENT: onUnsent,
  RECALL: onRecall,
  SETTLED: onSettled,
  CLOSED: onClosed,
  NOT_CLOSED: (step, { leaseId }) => retryCloseLater(step, leaseId),
  CONFIRMED: onConfirmed,
  RETRY: onRetry,
  TICK: onTick,
  STOP: onStop,
};
