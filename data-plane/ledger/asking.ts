/** How a purse gives its money to those that wait, and asks for more. */
import { AMOUNT_MAX } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import { growing } from './events.ts';
import type { Refusal, Turn } from './events.ts';
import { isExpired } from './state.ts';
import type { LeaseRequest, Purse, Waiter } from './state.ts';

/** Seconds of spending that a lease should last while the control plane is away: 60 s × 60. */
const MINUTES_WANTED = 60n;
const PRICES_WANTED = 10n;
const MINUTE_MS = 60_000;
/** While others give leases back: first and longest wait before asking again. */
const CONFLICT_MS = { first: 20, most: 80 };

/** Gives money to a newcomer whom nobody is before, else to all that wait and can have it. */
export function welcome(turn: Turn, purse: Purse, waiter: Waiter): void {
  if (purse.waiters.length === 0 && holdFor(turn, purse, waiter)) return;
  purse.waiters.push(waiter);
  serve(turn, purse);
}

/** Gives money to all that wait and can have it; then asks for the first of those that are left. */
export function serve(turn: Turn, purse: Purse | undefined): void {
  if (!purse || purse.waiters.length === 0) return;
  purse.waiters = purse.waiters.filter((waiter) => !holdFor(turn, purse, waiter));
  const [first] = purse.waiters;
  if (!first) return;
  if (turn.state.stopping) return refuse(turn, purse, { code: 'unavailable', from: 0n });
  ask(turn, purse, first.price);
}

function holdFor(turn: Turn, purse: Purse, waiter: Waiter): boolean {
  for (const id of purse.leaseIds) {
    const lease = turn.state.leases.get(id);
    if (!lease || lease.draining || lease.remaining < waiter.price || isExpired(lease, turn.now)) continue;
    lease.remaining -= waiter.price;
    lease.holds += 1;
    turn.effects.push({ type: 'HELD', waiter: waiter.id, leaseId: id });
    return true;
  }
  return false;
}

function ask(turn: Turn, purse: Purse, need: Micros): void {
  if (purse.requestNo !== null || turn.now.mono < purse.askAfter) return;
  const no = turn.state.nextRequestNo;
  turn.state.nextRequestNo += 1;
  purse.requestNo = no;
  const waiting = purse.waiters.reduce((sum, { price }) => sum + price, 0n);
  const request = {
    no,
    purseId: purse.id,
    want: wanted(turn, purse, { need, waiting }),
    need,
    waiting: atMost(waiting),
    sentAt: turn.now,
    attempts: 0,
    resendAt: null,
    former: false,
  };
  turn.state.requests.set(no, request);
  turn.effects.push({ type: 'REQUEST', request, purse, fresh: true });
}

/**
 * Asks for the next lease when half of the present credit is gone, so that nobody has to wait for it. Of a
 * small balance nothing is taken early: it would starve other nodes.
 */
export function renew(turn: Turn, purse: Purse): void {
  if (purse.requestNo !== null || purse.waiters.length > 0 || turn.now.mono < purse.renewAfter) return;
  let remaining = 0n;
  let newest = 0n;
  for (const id of purse.leaseIds) {
    const lease = turn.state.leases.get(id);
    if (!lease || lease.draining) continue;
    remaining += lease.remaining;
    newest = lease.amount;
  }
  if (turn.state.stopping || !purse.roomy || remaining * 2n >= newest) return;
  ask(turn, purse, purse.lastPrice);
}

/**
 * An hour of spending at the rate of the last two minutes, at least ten prices, and what all that wait need.
 */
function wanted(turn: Turn, purse: Purse, { need, waiting }: { need: Micros; waiting: Micros }): Micros {
  noteSpending(turn, purse, 0n);
  const perMinute = purse.spentNow > purse.spentBefore ? purse.spentNow : purse.spentBefore;
  const amounts = [need * PRICES_WANTED, waiting, perMinute * MINUTES_WANTED];
  return atMost(amounts.reduce((one, other) => (one > other ? one : other)));
}

/** More than this the control plane does not read as an amount. */
function atMost(amount: Micros): Micros {
  return amount > AMOUNT_MAX ? AMOUNT_MAX : amount;
}

/** Counts spending by the minute. */
export function noteSpending(turn: Turn, purse: Purse, price: Micros): void {
  const minute = Math.floor(turn.now.mono / MINUTE_MS);
  if (minute > purse.minute) {
    purse.spentBefore = minute === purse.minute + 1 ? purse.spentNow : 0n;
    purse.spentNow = 0n;
    purse.minute = minute;
  }
  purse.spentNow += price;
}

/** Takes the question away, once. A second answer to it finds nothing, so a grant is never applied twice. */
export function answered(turn: Turn, no: number): LeaseRequest | undefined {
  const request = turn.state.requests.get(no);
  if (!request) return undefined;
  turn.state.requests.delete(no);
  const purse = turn.state.purses.get(request.purseId);
  if (purse?.requestNo === no) purse.requestNo = null;
  return request;
}

/** Sends an unanswered question again under its number, once its time has come. */
export function resendIfDue(turn: Turn, request: LeaseRequest): void {
  if (request.resendAt !== null && request.resendAt <= turn.now.mono) resend(turn, request);
}

/** The same at once; a question that is on its way is left alone. */
export function resend(turn: Turn, request: LeaseRequest): void {
  if (request.resendAt === null) return;
  request.resendAt = null;
  const purse = turn.state.purses.get(request.purseId);
  if (purse) turn.effects.push({ type: 'REQUEST', request, purse, fresh: false });
}

/** Asks again when those that give leases back have had a moment. */
export function waitAndAsk(turn: Turn, purse: Purse): void {
  const afterMs = growing(CONFLICT_MS, purse.conflicts);
  purse.conflicts += 1;
  purse.askAfter = turn.now.mono + afterMs;
  if (purse.waiters.length > 0) turn.effects.push({ type: 'RETRY', purseId: purse.id, afterMs });
}

/** Refuses those that wait for at least so much. */
export function refuse(turn: Turn, purse: Purse, { code, from }: { code: Refusal; from: Micros }): void {
  for (const { id, price } of purse.waiters)
    if (price >= from) turn.effects.push({ type: 'REFUSE', waiter: id, code });
  purse.waiters = purse.waiters.filter(({ price }) => price < from);
}
