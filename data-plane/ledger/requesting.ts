/** Rules of one wallet budget: gives credit to waiting requests and asks the control plane for more. */
import { AMOUNT_MAX } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import { backoffMs } from './events.ts';
import type { Refusal, Step } from './events.ts';
import { isExpired } from './state.ts';
import type { LeaseRequest, Waiter, WalletBudget } from './state.ts';

/** Minutes of recent spending that a lease should cover while the control plane is away. */
const MINUTES_WANTED = 60n;
/** A lease should cover at least this many requests at the current price. */
const PRICES_WANTED = 10n;
const MINUTE_MS = 60_000;
/** Back-off before requesting again while other nodes return leases, in ms. */
const CONFLICT_MS = { first: 20, most: 80 };

/** Holds the price at once if no request waits and a lease has room; otherwise enqueues the request. */
export function holdOrEnqueue(step: Step, budget: WalletBudget, waiter: Waiter): void {
  if (budget.waiters.length === 0 && tryHold(step, budget, waiter)) return;
  budget.waiters.push(waiter);
  holdForWaiters(step, budget);
}

/** Serves the waiting requests that a lease can pay; then requests a lease for the first of the others. */
export function holdForWaiters(step: Step, budget: WalletBudget | undefined): void {
  if (!budget || budget.waiters.length === 0) return;
  budget.waiters = budget.waiters.filter((waiter) => !tryHold(step, budget, waiter));
  const [first] = budget.waiters;
  if (!first) return;
  if (step.state.stopping) return refuseWaiters(step, budget, { code: 'unavailable', from: 0n });
  requestLease(step, budget, first.price);
}

function tryHold(step: Step, budget: WalletBudget, waiter: Waiter): boolean {
  for (const id of budget.leaseIds) {
    const lease = step.state.leases.get(id);
    if (!lease || lease.draining || lease.remaining < waiter.price || isExpired(lease, step.now)) continue;
    lease.remaining -= waiter.price;
    lease.holds += 1;
    step.effects.push({ type: 'HELD', waiter: waiter.id, leaseId: id });
    return true;
  }
  return false;
}

function requestLease(step: Step, budget: WalletBudget, need: Micros): void {
  if (budget.requestNo !== null || step.now.mono < budget.requestAfter) return;
  const no = step.state.nextRequestNo;
  step.state.nextRequestNo += 1;
  budget.requestNo = no;
  const waiting = budget.waiters.reduce((sum, { price }) => sum + price, 0n);
  const request = {
    no,
    budgetId: budget.id,
    want: amountWanted(step, budget, { need, waiting }),
    need,
    waiting: capped(waiting),
    sentAt: step.now,
    attempts: 0,
    resendAt: null,
    fromEarlierProcess: false,
  };
  step.state.requests.set(no, request);
  step.effects.push({ type: 'REQUEST', request, budget, isNew: true });
}

/**
 * Requests the next lease when half of the present credit is used, so that no client has to wait for it. From
 * a small balance nothing is taken early: that would starve other nodes.
 */
export function renewEarly(step: Step, budget: WalletBudget): void {
  if (budget.requestNo !== null || budget.waiters.length > 0 || step.now.mono < budget.renewAfter) return;
  let remaining = 0n;
  let newest = 0n;
  for (const id of budget.leaseIds) {
    const lease = step.state.leases.get(id);
    if (!lease || lease.draining) continue;
    remaining += lease.remaining;
    newest = lease.amount;
  }
  if (step.state.stopping || !budget.grantHadSurplus || remaining * 2n >= newest) return;
  requestLease(step, budget, budget.lastPrice);
}

/**
 * An hour of spending at the rate of the busier of the last two minutes, but at least ten prices and the sum
 * of all waiting requests.
 */
function amountWanted(
  step: Step,
  budget: WalletBudget,
  { need, waiting }: { need: Micros; waiting: Micros },
): Micros {
  recordSpending(step, budget, 0n);
  const { spentThisMinute, spentLastMinute } = budget;
  const perMinute = spentThisMinute > spentLastMinute ? spentThisMinute : spentLastMinute;
  const amounts = [need * PRICES_WANTED, waiting, perMinute * MINUTES_WANTED];
  return capped(amounts.reduce((one, other) => (one > other ? one : other)));
}

/** The control plane rejects larger amounts as invalid. */
function capped(amount: Micros): Micros {
  return amount > AMOUNT_MAX ? AMOUNT_MAX : amount;
}

/** Adds a price to the spending of the current minute; starts a new minute first when one has begun. */
export function recordSpending(step: Step, budget: WalletBudget, price: Micros): void {
  const minute = Math.floor(step.now.mono / MINUTE_MS);
  if (minute > budget.minute) {
    budget.spentLastMinute = minute === budget.minute + 1 ? budget.spentThisMinute : 0n;
    budget.spentThisMinute = 0n;
    budget.minute = minute;
  }
  budget.spentThisMinute += price;
}

/**
 * Removes a request that was answered, and returns it. A duplicate answer finds nothing, so no grant is
 * applied twice.
 */
export function removeAnsweredRequest(step: Step, no: number): LeaseRequest | undefined {
  const request = step.state.requests.get(no);
  if (!request) return undefined;
  step.state.requests.delete(no);
  const budget = step.state.budgets.get(request.budgetId);
  if (budget?.requestNo === no) budget.requestNo = null;
  return request;
}

/** Resends an unanswered request under the same number once its back-off is over. */
export function resendIfDue(step: Step, request: LeaseRequest): void {
  if (request.resendAt !== null && request.resendAt <= step.now.mono) resend(step, request);
}

/** Resends an unanswered request at once, unless it is under way. */
export function resend(step: Step, request: LeaseRequest): void {
  if (request.resendAt === null) return;
  request.resendAt = null;
  const budget = step.state.budgets.get(request.budgetId);
  if (budget) step.effects.push({ type: 'REQUEST', request, budget, isNew: false });
}

/** Postpones the next request, so that other nodes and this one have time to return leases. */
export function requestAgainLater(step: Step, budget: WalletBudget): void {
  const afterMs = backoffMs(CONFLICT_MS, budget.conflicts);
  budget.conflicts += 1;
  budget.requestAfter = step.now.mono + afterMs;
  if (budget.waiters.length > 0) step.effects.push({ type: 'RETRY', budgetId: budget.id, afterMs });
}

/** Refuses the waiting requests whose price is at least `from`. */
export function refuseWaiters(
  step: Step,
  budget: WalletBudget,
  { code, from }: { code: Refusal; from: Micros },
): void {
  for (const { id, price } of budget.waiters)
    if (price >= from) step.effects.push({ type: 'REFUSE', waiter: id, code });
  budget.waiters = budget.waiters.filter(({ price }) => price < from);
}
