/**
 * The node's money rules: (state, event, now) → effects. No clock, no network, no disk, no chance; the state
 * is changed in place and nothing else is, so the same events give the same effects.
 */
import type { Micros } from '@gateway/shared/money';
import {
  answered,
  noteSpending,
  refuse,
  renew,
  resend,
  resendIfDue,
  serve,
  waitAndAsk,
  welcome,
} from './asking.ts';
import type { SettledLease } from './book.ts';
import { closeIfDone, closeLater, closeUnknown, drain, expireIfDue, noteUnknown } from './closing.ts';
import { growing } from './events.ts';
import type { LedgerEffect, LedgerEvent, Turn } from './events.ts';
import { isExpired, purseFor, unusedLease } from './state.ts';
import type { LedgerState, Moment, Purse } from './state.ts';

const RENEW_PAUSE_MS = 5_000;
/** Without a hold for so long, the wallet gets its leases back. */
const IDLE_MS = 60_000;
const RESEND_MS = { first: 50, most: 1_000 };
/** A control plane that was not heard of for so long counts as away; its heartbeats come every 5 s. */
const SILENCE_MS = 6_000;
/** What requests of clients do: nothing in it lets a lease be closed that is nobody's. */
const OF_CLIENTS: ReadonlySet<LedgerEvent['type']> = new Set(['HOLD', 'GIVE_UP', 'RELEASE', 'COMMITTED']);
/** What only an answer of the control plane can have caused. */
const ANSWERS: ReadonlySet<LedgerEvent['type']> = new Set([
  'GRANTED',
  'REFUSED',
  'CONFLICT',
  'SETTLED',
  'CLOSED',
  'CONFIRMED',
]);

type Handlers = {
  [Type in LedgerEvent['type']]: (turn: Turn, event: Extract<LedgerEvent, { type: Type }>) => void;
};

/** Handles one event: changes the state in place and returns what is to be done, in order. Never throws. */
export function step(state: LedgerState, event: LedgerEvent, now: Moment): LedgerEffect[] {
  const turn: Turn = { state, now, effects: [] };
  if (ANSWERS.has(event.type)) state.heardAt = now.mono;
  const handle = HANDLERS[event.type] as (turn: Turn, event: LedgerEvent) => void;
  handle(turn, event);
  if (state.recalled.size > 0 && !OF_CLIENTS.has(event.type)) closeUnknown(turn);
  return turn.effects;
}

/** Whether a charge may still be written for a hold of this lease. Asked right before the journal write. */
export function mayCommit(state: LedgerState, leaseId: string, now: Moment): boolean {
  const lease = state.leases.get(leaseId);
  return lease !== undefined && !isExpired(lease, now);
}

function onHold(turn: Turn, event: Extract<LedgerEvent, { type: 'HOLD' }>): void {
  const purse = purseFor(turn.state, event);
  purse.lastHoldAt = turn.now.mono;
  purse.lastPrice = event.price;
  welcome(turn, purse, { id: event.waiter, price: event.price });
  renew(turn, purse);
}

function onGiveUp(turn: Turn, event: Extract<LedgerEvent, { type: 'GIVE_UP' }>): void {
  const { waiter, purseId, final } = event;
  const purse = turn.state.purses.get(purseId);
  if (!purse?.waiters.some(({ id }) => id === waiter)) return;
  const answers = isAnswering(turn);
  if (answers && !final) return;
  purse.waiters = purse.waiters.filter(({ id }) => id !== waiter);
  const code = answers && purse.conflicts > 0 ? 'all_in_use' : 'unavailable';
  turn.effects.push({ type: 'REFUSE', waiter, code });
}

/**
 * Whether an answer may still come: the last that is known of the control plane is an answer, not a failure.
 * One that is slow is not away.
 */
function isAnswering({ state: { heardAt, unheardAt }, now }: Turn): boolean {
  return heardAt !== null && heardAt >= (unheardAt ?? heardAt) && now.mono - heardAt < SILENCE_MS;
}

function onRelease(turn: Turn, { leaseId, price }: { leaseId: string; price: Micros }): void {
  const lease = turn.state.leases.get(leaseId);
  if (!lease) return;
  lease.holds -= 1;
  lease.remaining += price;
  serve(turn, turn.state.purses.get(lease.purseId));
  closeIfDone(turn, lease);
}

function onCommitted(turn: Turn, { leaseId, price }: { leaseId: string; price: Micros }): void {
  const lease = turn.state.leases.get(leaseId);
  if (!lease) return;
  lease.holds -= 1;
  lease.count += 1;
  lease.sum += price;
  const purse = turn.state.purses.get(lease.purseId);
  if (purse) noteSpending(turn, purse, price);
  closeIfDone(turn, lease);
}

function onGranted(turn: Turn, event: Extract<LedgerEvent, { type: 'GRANTED' }>): void {
  const request = answered(turn, event.no);
  if (!request || turn.state.leases.has(event.leaseId)) return;
  const { leaseId, amount, deadlineMs } = event;
  turn.effects.push({
    type: 'WRITE',
    record: { type: 'granted', no: event.no, leaseId, amount: String(amount) },
  });
  const purse = turn.state.purses.get(request.purseId);
  if (!purse) return;
  const lease = { ...unusedLease(leaseId, purse.id, amount), deadlineMs, confirmed: request.sentAt };
  if (request.former) Object.assign(lease, { draining: true, expired: true });
  turn.state.leases.set(leaseId, lease);
  purse.leaseIds.push(leaseId);
  purse.conflicts = 0;
  purse.roomy = amount > request.waiting;
  // Whoever waited for this lease is served before it goes back, else two nodes could recall from each other
  // for ever.
  serve(turn, purse);
  const recalled = turn.state.recalled.delete(leaseId);
  if (recalled || turn.state.stopping) lease.draining = true;
  closeIfDone(turn, lease);
}

function onRefused(turn: Turn, event: Extract<LedgerEvent, { type: 'REFUSED' }>): void {
  const request = answered(turn, event.no);
  if (!request) return;
  turn.effects.push({ type: 'WRITE', record: { type: 'refused', no: event.no } });
  const purse = turn.state.purses.get(request.purseId);
  if (!purse) return;
  purse.renewAfter = turn.now.mono + RENEW_PAUSE_MS;
  // Money of ours is on its way back to the wallet: the answer was right, and will not be for long.
  if (event.code !== 'wallet_frozen' && giveBack(turn, purse)) return waitAndAsk(turn, purse);
  refuse(turn, purse, { code: event.code, from: event.code === 'wallet_frozen' ? 0n : request.need });
  serve(turn, purse);
}

function onConflict(turn: Turn, { no }: { no: number }): void {
  const request = answered(turn, no);
  if (!request) return;
  turn.effects.push({ type: 'WRITE', record: { type: 'refused', no } });
  const purse = turn.state.purses.get(request.purseId);
  if (!purse) return;
  purse.renewAfter = turn.now.mono + RENEW_PAUSE_MS;
  giveBack(turn, purse);
  waitAndAsk(turn, purse);
}

/**
 * The wallet is too poor for those that wait: what is left of leases here, and too little for any of them,
 * goes back. Says whether something is on its way.
 */
function giveBack(turn: Turn, purse: Purse): boolean {
  if (purse.waiters.length === 0) return false;
  let returning = false;
  for (const id of purse.leaseIds) {
    const lease = turn.state.leases.get(id);
    if (!lease) continue;
    if (lease.remaining > 0n) drain(turn, lease);
    returning ||= lease.draining && lease.holds === 0;
  }
  return returning;
}

function onUnanswered(turn: Turn, { no }: { no: number }): void {
  const request = turn.state.requests.get(no);
  if (!request) return;
  const afterMs = growing(RESEND_MS, request.attempts);
  request.attempts += 1;
  turn.state.unheardAt = turn.now.mono;
  request.resendAt = turn.now.mono + afterMs;
  turn.effects.push({ type: 'RETRY', purseId: request.purseId, afterMs });
}

function onUnsent(turn: Turn, { no }: { no: number }): void {
  const request = answered(turn, no);
  const purse = request && turn.state.purses.get(request.purseId);
  if (purse) refuse(turn, purse, { code: 'unavailable', from: 0n });
}

function onRecall(turn: Turn, { leaseId }: { leaseId: string }): void {
  const lease = turn.state.leases.get(leaseId);
  if (lease) {
    lease.draining = true;
    closeIfDone(turn, lease);
  } else {
    noteUnknown(turn, leaseId);
  }
}

function onSettled(turn: Turn, { leases }: { leases: readonly SettledLease[] }): void {
  for (const { leaseId, count, rejected, rejectedSum } of leases) {
    const lease = turn.state.leases.get(leaseId);
    if (!lease) continue;
    lease.settled += count - rejected;
    lease.count -= rejected;
    lease.sum -= BigInt(rejectedSum);
    closeIfDone(turn, lease);
  }
}

function onClosed(turn: Turn, { leaseId }: { leaseId: string }): void {
  turn.state.recalled.delete(leaseId);
  const lease = turn.state.leases.get(leaseId);
  if (!lease) return;
  turn.state.leases.delete(leaseId);
  turn.effects.push({ type: 'WRITE', record: { type: 'closed', leaseId } });
  const purse = turn.state.purses.get(lease.purseId);
  if (!purse) return;
  purse.leaseIds = purse.leaseIds.filter((id) => id !== leaseId);
  // The wallet is richer now: whoever waits need not wait for the pause to end.
  purse.askAfter = 0;
  serve(turn, purse);
}

function onConfirmed(turn: Turn, { sentAt }: { sentAt: Moment }): void {
  for (const lease of turn.state.leases.values()) {
    expireIfDue(turn, lease);
    lease.closeAfter = 0;
    closeIfDone(turn, lease);
    if (lease.expired || lease.confirmed.mono >= sentAt.mono) continue;
    lease.confirmed = sentAt;
  }
  for (const unknown of turn.state.recalled.values()) unknown.closeAfter = 0;
  // The control plane answers again: what it owes an answer to need not wait longer.
  for (const request of turn.state.requests.values()) resend(turn, request);
}

/** The wait is over, whatever the clock says: a timer may be early by a part of a millisecond. */
function onRetry(turn: Turn, { purseId }: { purseId: string }): void {
  for (const request of turn.state.requests.values()) if (request.purseId === purseId) resend(turn, request);
  const purse = turn.state.purses.get(purseId);
  if (purse) purse.askAfter = 0;
  serve(turn, purse);
}

function onTick(turn: Turn): void {
  for (const request of turn.state.requests.values()) resendIfDue(turn, request);
  for (const lease of turn.state.leases.values()) {
    expireIfDue(turn, lease);
    closeIfDone(turn, lease);
  }
  // Looked up: a control plane that is away leaves as many questions open as there are purses.
  const asked = new Set<string>();
  for (const { purseId } of turn.state.requests.values()) asked.add(purseId);
  for (const purse of turn.state.purses.values()) {
    if (turn.now.mono - purse.lastHoldAt < IDLE_MS || purse.waiters.length > 0) continue;
    for (const id of purse.leaseIds) drain(turn, turn.state.leases.get(id));
    if (purse.leaseIds.length === 0 && !asked.has(purse.id)) turn.state.purses.delete(purse.id);
  }
}

function onStop(turn: Turn): void {
  turn.state.stopping = true;
  for (const purse of turn.state.purses.values()) refuse(turn, purse, { code: 'unavailable', from: 0n });
  for (const lease of turn.state.leases.values()) drain(turn, lease);
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
  NOT_CLOSED: (turn, { leaseId }) => closeLater(turn, leaseId),
  CONFIRMED: onConfirmed,
  RETRY: onRetry,
  TICK: onTick,
  STOP: onStop,
};
