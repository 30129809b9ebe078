/**
 * What a node remembers about money while it runs: plain data, so that it can be copied, compared and
 * checked.
 */
import type { Micros } from '@gateway/shared/money';
import type { Book } from './book.ts';

/**
 * One instant on two clocks, in ms: the monotonic one may sleep with the machine, the wall clock may jump.
 */
export interface Moment {
  mono: number;
  wall: number;
}

/** How giving a lease back goes. */
export interface Closing {
  /** Whether the order to close it is on its way. */
  closing: boolean;
  closeAttempts: number;
  /** Earliest next attempt to close, on the monotonic clock. */
  closeAfter: number;
}

/**
 * A lease that was recalled and is not known here: its grant is still to come, or its question was answered
 * otherwise, and it is nobody's.
 */
export interface UnknownLease extends Closing {
  /** The number after the last question by then. */
  before: number;
}

/** Credit that this node may spend. */
export interface Lease extends Closing {
  id: string;
  purseId: string;
  amount: Micros;
  /** Neither charged nor held. */
  remaining: Micros;
  /** Open holds, those being written to the journal included. */
  holds: number;
  /** Charges in the journal. */
  count: number;
  sum: Micros;
  /** How many of them the control plane has. */
  settled: number;
  /** Nothing new is held from it; it closes as soon as its holds are done and its charges settled. */
  draining: boolean;
  /** The control plane may have taken it back: nothing may be charged to it any more. */
  expired: boolean;
  /** How long it lasts without a word from the control plane, in ms. */
  deadlineMs: number;
  /** When the control plane was last known to have counted it as this node's. */
  confirmed: Moment;
}

/** A request of a client that waits for money. */
export interface Waiter {
  id: number;
  price: Micros;
}

/** A question for a lease that is not answered yet. It keeps its number until it is. */
export interface LeaseRequest {
  no: number;
  purseId: string;
  want: Micros;
  need: Micros;
  /** What those that waited when it was asked need together. */
  waiting: Micros;
  /** The first time it was sent: the lease's deadline counts from there. */
  sentAt: Moment;
  attempts: number;
  /** When to send it again, on the monotonic clock; null while an answer may come. */
  resendAt: number | null;
  /** Asked by an earlier process of this node: its lease is closed unused. */
  former: boolean;
}

/** The money of one wallet on this node, or of one key where the key has a spend limit. */
export interface Purse {
  id: string;
  walletId: string;
  keyId: string | null;
  leaseIds: string[];
  waiters: Waiter[];
  requestNo: number | null;
  /** Earliest next question, on the monotonic clock. */
  askAfter: number;
  /** Earliest next question for which nobody waits. */
  renewAfter: number;
  conflicts: number;
  /** The last grant was more than was waited for: the wallet has enough to ask for the next one early. */
  roomy: boolean;
  lastPrice: Micros;
  lastHoldAt: number;
  /** Spending in the minute that runs and in the one before it. */
  minute: number;
  spentNow: Micros;
  spentBefore: Micros;
}

export interface LedgerState {
  nextRequestNo: number;
  stopping: boolean;
  purses: Map<string, Purse>;
  leases: Map<string, Lease>;
  requests: Map<number, LeaseRequest>;
  /** Leases that were recalled and are not known here, in the order of their recalls. */
  recalled: Map<string, UnknownLease>;
  /** When the control plane last answered anything, and when a question last got no answer; monotonic. */
  heardAt: number | null;
  unheardAt: number | null;
}

/**
 * The state of a process that begins with this book. Leases of an earlier process are never spent from again:
 * they drain, and its unanswered questions are asked once more only to close what they gave.
 */
export function beginWith(book: Book): LedgerState {
  const state: LedgerState = {
    nextRequestNo: book.nextRequestNo,
    stopping: false,
    purses: new Map(),
    leases: new Map(),
    requests: new Map(),
    recalled: new Map(),
    heardAt: null,
    unheardAt: null,
  };
  for (const [id, old] of book.leases) {
    const purse = purseFor(state, old);
    purse.leaseIds.push(id);
    const { amount, count, sum, settled } = old;
    state.leases.set(id, {
      ...unusedLease(id, purse.id, amount),
      remaining: amount - sum,
      count,
      sum,
      settled,
      draining: true,
      expired: true,
    });
  }
  for (const [no, old] of book.requests) {
    const purse = purseFor(state, old);
    const { want, need } = old;
    state.requests.set(no, {
      no,
      purseId: purse.id,
      want,
      need,
      waiting: 0n,
      sentAt: { mono: 0, wall: 0 },
      attempts: 0,
      resendAt: 0,
      former: true,
    });
  }
  return state;
}

/** Whether the node has no credit, and no question that may still bring it some. */
export function isCleared({ leases, recalled, requests }: LedgerState): boolean {
  return leases.size === 0 && recalled.size === 0 && requests.size === 0;
}

/** A lease that nothing was taken from. */
export function unusedLease(id: string, purseId: string, amount: Micros): Lease {
  return {
    id,
    purseId,
    amount,
    remaining: amount,
    holds: 0,
    count: 0,
    sum: 0n,
    settled: 0,
    draining: false,
    expired: false,
    closing: false,
    closeAttempts: 0,
    closeAfter: 0,
    deadlineMs: 0,
    confirmed: { mono: 0, wall: 0 },
  };
}

/** Whose money a purse holds: a wallet's, or one key's of it. */
export interface PurseOwner {
  walletId: string;
  /** The key, where it has a limit of its own. */
  keyId: string | null;
}

/** What a purse is found by. */
export function purseIdOf({ walletId, keyId }: PurseOwner): string {
  return keyId === null ? walletId : `${walletId} ${keyId}`;
}

/** The purse of its owner, made at the first use. */
export function purseFor(state: LedgerState, owner: PurseOwner): Purse {
  const { walletId, keyId } = owner;
  const id = purseIdOf(owner);
  let purse = state.purses.get(id);
  if (!purse) {
    purse = {
      id,
      walletId,
      keyId,
      leaseIds: [],
      waiters: [],
      requestNo: null,
      askAfter: 0,
      renewAfter: 0,
      conflicts: 0,
      roomy: false,
      lastPrice: 0n,
      lastHoldAt: 0,
      minute: 0,
      spentNow: 0n,
      spentBefore: 0n,
    };
    state.purses.set(id, purse);
  }
  return purse;
}

/** Whether the control plane may have taken the lease back by now. */
export function isExpired(lease: Lease, now: Moment): boolean {
  const elapsed = Math.max(now.mono - lease.confirmed.mono, now.wall - lease.confirmed.wall);
  return lease.expired || elapsed > lease.deadlineMs;
}
