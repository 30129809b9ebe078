/**
 * Rules of one wallet budget. A client request needs a hold: credit of a lease that is reserved for its
 * price. If no lease has enough credit, the client request becomes a waiter, and the budget sends a lease
 * request to the control plane.
 */
import { AMOUNT_MAX } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import { backoffMs } from './events.ts';
import type { Refusal, Step } from './events.ts';
import { isExpired } from './state.ts';
import type { LeaseRequest, Waiter, WalletBudget } from './state.ts';

/** A lease should cover this many minutes of recent spending, because the control plane may be away. */
const MINUTES_WANTED = 60n;
/** A lease should cover at least this many client requests at the current price. */
const PRICES_WANTED = 10n;
const MINUTE_MS = 60_000;
/** Back-off after a CONFLICT, before the next lease request, in ms. Other nodes return leases meanwhile. */
const CONFLICT_MS = { first: 20, most: 80 };

/** Holds the price at once if nobody waits and a lease has enough credit; otherwise enqueues the waiter. */
export function holdOrEnqueue(step: Step, budget: WalletBudget, waiter: Waiter): void {
  if (budget.waiters.length === 0 && tryHold(step, budget, waiter)) return;
  budget.waiters.push(waiter);
  holdForWaiters(step, budget);
}

/**
 * Holds the price of every waiter that some lease can pay, in the order of arrival. For the first waiter that
 * remains, sends a lease request; while the process shuts down, refuses all that remain instead.
 */
export function holdForWaiters(step: Step, budget: WalletBudget | undefined): void {
  if (!budget || budget.waiters.length === 0) return;
  budget.waiters = budget.waiters.filter((waiter) => !tryHold(step, budget, waiter));
  const [first] = budget.waiters;
  if (!first) return;
  if (step.state.stopping) return refuseWaiters(step, budget, { code: 'unavailable', minPrice: 0n });
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

/**
 * Sends a lease request with a new number. Does nothing while the budget has an unanswered lease request or
 * its back-off lasts.
 */
function requestLease(step: Step, budget: WalletBudget, need: Micros): void {
  if (budget.requestNo !== null || step.now.mono < budget.requestAfter) return;
  const no = step.state.nextRequestNo;
  step.state.nextRequestNo += 1;
  budget.requestNo = no;
  const waitingSum = budget.waiters.reduce((sum, { price }) => sum + price, 0n);
  const request: LeaseRequest = {
    no,
    budgetId: budget.id,
    want: amountWanted(step, budget, { need, waitingSum }),
    need,
    waiting: atMostMaximum(waitingSum),
    sentAt: step.now,
    attempts: 0,
    resendAt: null,
    fromEarlierProcess: false,
  };
  step.state.requests.set(no, request);
  step.effects.push({ type: 'REQUEST', request, budget, isNew: true });
}

/**
 * Requests the next lease when the remaining credit is below half of the newest lease, so that clients need
 * not wait for the grant. Does not do so if the last grant only just covered the waiters: the wallet is then
 * nearly empty, and other nodes need its rest.
 */
export function renewEarly(step: Step, budget: WalletBudget): void {
  if (budget.requestNo !== null || budget.waiters.length > 0 || step.now.mono < budget.renewAfter) return;
  let remaining = 0n;
  let newestAmount = 0n;
  for (const id of budget.leaseIds) {
    const lease = step.state.leases.get(id);
    if (!lease || lease.draining) continue;
    remaining += lease.remaining;
    newestAmount = lease.amount;
  }
  if (step.state.stopping || !budget.grantHadSurplus || remaining * 2n >= newestAmount) return;
  requestLease(step, budget, budget.lastPrice);
}

/**
 * The amount of a lease request: the largest of ten prices, the sum of all waiting prices, and one hour of
 * spending. The spending per minute is that of this minute or the previous one, whichever is larger.
 */
function amountWanted(
  step: Step,
  budget: WalletBudget,
  { need, waitingSum }: { need: Micros; waitingSum: Micros },
): Micros {
  recordSpending(step, budget, 0n);
  const { spentThisMinute, spentLastMinute } = budget;
  const perMinute = spentThisMinute > spentLastMinute ? spentThisMinute : spentLastMinute;
  const amounts = [need * PRICES_WANTED, waitingSum, perMinute * MINUTES_WANTED];
  return atMostMaximum(amounts.reduce((one, other) => (one > other ? one : other)));
}

/** The amount, or the largest amount that the control plane accepts if that is smaller. */
function atMostMaximum(amount: Micros): Micros {
  return amount > AMOUNT_MAX ? AMOUNT_MAX : amount;
}

/**
 * Adds a price to the spending of the current minute of the monotonic clock. A price of 0 only updates it.
 */
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
 * Removes the lease request with this number, because it was answered or cannot be sent. Returns undefined
 * if the request was removed before; a duplicate answer must then change nothing.
 */
export function removeLeaseRequest(step: Step, no: number): LeaseRequest | undefined {
  const request = step.state.requests.get(no);
  if (!request) return undefined;
  step.state.requests.delete(no);
  const budget = step.state.budgets.get(request.budgetId);
  if (budget?.requestNo === no) budget.requestNo = null;
  return request;
}

/** Resends an unanswered lease request, under the same number, if its back-off is over. */
export function resendIfDue(step: Step, request: LeaseRequest): void {
  if (request.resendAt !== null && request.resendAt <= step.now.mono) resend(step, request);
}

/** Resends an unanswered lease request, under the same number, whether or not its back-off is over. */
export function resend(step: Step, request: LeaseRequest): void {
  // A copy of the lease request is under way: its answer, or its failure, comes first.
  if (request.resendAt === null) return;
  request.resendAt = null;
  const budget = step.state.budgets.get(request.budgetId);
  if (budget) step.effects.push({ type: 'REQUEST', request, budget, isNew: false });
}

/**
 * Postpones the next lease request by the back-off, while this node and others return leases to the wallet.
 */
export function requestAgainLater(step: Step, budget: WalletBudget): void {
  const afterMs = backoffMs(CONFLICT_MS, budget.conflicts);
  budget.conflicts += 1;
  budget.requestAfter = step.now.mono + afterMs;
  if (budget.waiters.length > 0) step.effects.push({ type: 'RETRY', budgetId: budget.id, afterMs });
}

/** Refuses the waiters whose price is at least `minPrice`. */
export function refuseWaiters(
  step: Step,
  budget: WalletBudget,
  { code, minPrice }: { code: Refusal; minPrice: Micros },
): void {
  for (const { id, price } of budget.waiters)
    if (price >= minPrice) step.effects.push({ type: 'REFUSE', waiter: id, code });
  budget.waiters = budget.waiters.filter(({ price }) => price < minPrice);
}
