/** State of the money rules while a node runs: plain data, so that tests can copy, compare and check it. */
import type { Micros } from '@gateway/shared/money';
import type { JournalState } from './journal-state.ts';

/** One instant on two clocks, in ms. The monotonic clock may pause in sleep; the wall clock may jump. */
export interface Moment {
  mono: number;
  wall: number;
}

/** Progress of closing a lease. */
interface CloseProgress {
  /** Whether a close message is under way. */
  closeInFlight: boolean;
  closeAttempts: number;
  /** Earliest next close message, on the monotonic clock. */
  closeAfter: number;
}

/**
 * The recall of a lease that this node does not know. Either its grant is still to come, or its request got
 * another answer and the lease must be returned unused.
 */
interface UnknownRecall extends CloseProgress {
  /** Number of the first request after the recall: only earlier requests can still bring this lease. */
  firstLaterRequestNo: number;
}

/** Credit that this node may spend. */
export interface Lease extends CloseProgress {
  id: string;
  budgetId: string;
  amount: Micros;
  /** Credit that is neither charged nor held. */
  remaining: Micros;
  /** Open holds, including those whose charge is being written to the journal. */
  holds: number;
  /** Number of charges in the journal, and their sum. */
  count: number;
  sum: Micros;
  /** Number of these charges that are settled. */
  settled: number;
  /** The lease takes no new holds; it closes once its holds have ended and its charges are settled. */
  draining: boolean;
  /** The control plane may have reclaimed the lease: no charge may be written for it. */
  expired: boolean;
  /** How long the lease stays valid after `confirmed`, in ms. */
  deadlineMs: number;
  /** Last moment at which the control plane certainly counted the lease as this node's. */
  confirmed: Moment;
}

/** A client request that waits for a hold. */
export interface Waiter {
  id: number;
  price: Micros;
}

/** A lease request that is not answered yet. It is sent again under the same number until it is. */
export interface LeaseRequest {
  no: number;
  budgetId: string;
  /** Amount that the node would like. */
  want: Micros;
  /** Smallest amount that is of use: one price. */
  need: Micros;
  /** Sum of the prices of all client requests that waited when the request was made. */
  waiting: Micros;
  /** When the request was first sent: the deadline of the lease counts from there. */
  sentAt: Moment;
  attempts: number;
  /** When to send the request again, on the monotonic clock; null while it is under way. */
  resendAt: number | null;
  /** Sent by an earlier process on this journal: the lease is returned unused. */
  fromEarlierProcess: boolean;
}

/** Leases and waiting requests of one wallet on this node, or of one key that has a spend limit. */
export interface WalletBudget {
  id: string;
  walletId: string;
  keyId: string | null;
  leaseIds: string[];
  waiters: Waiter[];
  /** Number of the unanswered lease request; null if there is none. */
  requestNo: number | null;
  /** Earliest next lease request, on the monotonic clock. */
  requestAfter: number;
  /** Earliest next lease request for which no client waits, on the monotonic clock. */
  renewAfter: number;
  /** Consecutive CONFLICT answers. */
  conflicts: number;
  /** Whether the last grant exceeded the waiting prices: then the next lease may be requested early. */
  grantHadSurplus: boolean;
  lastPrice: Micros;
  lastHoldAt: number;
  /** Number of the current minute of the monotonic clock, and the spending in it and in the one before. */
  minute: number;
  spentThisMinute: Micros;
  spentLastMinute: Micros;
}

export interface LedgerState {
  nextRequestNo: number;
  stopping: boolean;
  budgets: Map<string, WalletBudget>;
  leases: Map<string, Lease>;
  requests: Map<number, LeaseRequest>;
  /** Recalls of leases that this node does not know, by lease id, in the order of the recalls. */
  unknownRecalls: Map<string, UnknownRecall>;
  /** When the control plane last answered, and when a lease request last got no answer; monotonic. */
  lastAnswerAt: number | null;
  lastUnansweredAt: number | null;
}

/**
 * The state of a process that starts with this journal. Leases of an earlier process are never spent again,
 * only drained. Its unanswered lease requests are sent again only to return the leases that they brought.
 */
export function initialLedgerState(journal: JournalState): LedgerState {
  const state: LedgerState = {
    nextRequestNo: journal.nextRequestNo,
    stopping: false,
    budgets: new Map(),
    leases: new Map(),
    requests: new Map(),
    unknownRecalls: new Map(),
    lastAnswerAt: null,
    lastUnansweredAt: null,
  };
  for (const [id, old] of journal.leases) {
    const budget = budgetFor(state, old);
    budget.leaseIds.push(id);
    const { amount, count, sum, settled } = old;
    state.leases.set(id, {
      ...unusedLease(id, budget.id, amount),
      remaining: amount - sum,
      count,
      sum,
      settled,
      draining: true,
      expired: true,
    });
  }
  for (const [no, old] of journal.requests) {
    const budget = budgetFor(state, old);
    const { want, need } = old;
    state.requests.set(no, {
      no,
      budgetId: budget.id,
      want,
      need,
      waiting: 0n,
      sentAt: { mono: 0, wall: 0 },
      attempts: 0,
      resendAt: 0,
      fromEarlierProcess: true,
    });
  }
  return state;
}

/** Whether the node has no lease, and no lease request or recall that is still open. */
export function isDrained({ leases, unknownRecalls, requests }: LedgerState): boolean {
  return leases.size === 0 && unknownRecalls.size === 0 && requests.size === 0;
}

/** A lease from which nothing was held or charged. */
export function unusedLease(id: string, budgetId: string, amount: Micros): Lease {
  return {
    id,
    budgetId,
    amount,
    remaining: amount,
    holds: 0,
    count: 0,
    sum: 0n,
    settled: 0,
    draining: false,
    expired: false,
    closeInFlight: false,
    closeAttempts: 0,
    closeAfter: 0,
    deadlineMs: 0,
    confirmed: { mono: 0, wall: 0 },
  };
}

/** Owner of a budget: a wallet, or one key of it. */
export interface BudgetOwner {
  walletId: string;
  /** The key, if it has a spend limit of its own; else null. */
  keyId: string | null;
}

/** Id of the owner's budget. */
export function budgetIdOf({ walletId, keyId }: BudgetOwner): string {
  return keyId === null ? walletId : `${walletId} ${keyId}`;
}

/** The owner's budget; created on first use. */
export function budgetFor(state: LedgerState, owner: BudgetOwner): WalletBudget {
  const { walletId, keyId } = owner;
  const id = budgetIdOf(owner);
  let budget = state.budgets.get(id);
  if (!budget) {
    budget = {
      id,
      walletId,
      keyId,
      leaseIds: [],
      waiters: [],
      requestNo: null,
      requestAfter: 0,
      renewAfter: 0,
      conflicts: 0,
      grantHadSurplus: false,
      lastPrice: 0n,
      lastHoldAt: 0,
      minute: 0,
      spentThisMinute: 0n,
      spentLastMinute: 0n,
    };
    state.budgets.set(id, budget);
  }
  return budget;
}

/** Whether the control plane may have reclaimed the lease by now. Either clock decides. */
export function isExpired(lease: Lease, now: Moment): boolean {
  const elapsed = Math.max(now.mono - lease.confirmed.mono, now.wall - lease.confirmed.wall);
  return lease.expired || elapsed > lease.deadlineMs;
}
