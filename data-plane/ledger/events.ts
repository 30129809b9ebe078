/** Events that the money rules handle, and the effects that they ask the ledger to carry out. */
import type { FailureCode } from '@gateway/shared/failures';
import type { Micros } from '@gateway/shared/money';
import type { BookkeepingRecord, SettledLease } from './journal-state.ts';
import type { LeaseRequest, LedgerState, Moment, WalletBudget } from './state.ts';

type RefusalCode = Extract<
  FailureCode,
  'insufficient_funds' | 'spend_limit_reached' | 'wallet_frozen' | 'unavailable'
>;

/** Why a request gets no credit. `all_in_use`: requests in flight hold the rest and may release it. */
export type Refusal = RefusalCode | 'all_in_use';

export type LedgerEvent =
  /** A request needs a hold of `price`. `waiter` identifies the request in the effects. */
  | { type: 'HOLD'; waiter: number; walletId: string; keyId: string | null; price: Micros }
  /**
   * A request has waited long for its hold. Unless `final`, it keeps waiting while the control plane is
   * known to answer.
   */
  | { type: 'GIVE_UP'; waiter: number; budgetId: string; final: boolean }
  | { type: 'RELEASE'; leaseId: string; price: Micros }
  /** The charge of a hold is durable in the journal. */
  | { type: 'COMMITTED'; leaseId: string; price: Micros }
  | { type: 'GRANTED'; no: number; leaseId: string; amount: Micros; deadlineMs: number }
  | { type: 'REFUSED'; no: number; code: RefusalCode }
  /** Other nodes are returning leases of the wallet: request again soon. */
  | { type: 'CONFLICT'; no: number }
  | { type: 'UNANSWERED'; no: number }
  /** The journal did not take the lease request, so it was not sent. */
  | { type: 'UNSENT'; no: number }
  | { type: 'RECALL'; leaseId: string }
  | { type: 'SETTLED'; leases: readonly SettledLease[] }
  | { type: 'CLOSED'; leaseId: string }
  /** A close message failed or was not answered. */
  | { type: 'NOT_CLOSED'; leaseId: string }
  /** The control plane answered a heartbeat that was sent at that moment. */
  | { type: 'CONFIRMED'; sentAt: Moment }
  /** The back-off of a RETRY effect is over. */
  | { type: 'RETRY'; budgetId: string }
  /** Once a second. */
  | { type: 'TICK' }
  /** The process shuts down: hold nothing new and return all leases. */
  | { type: 'STOP' };

export type LedgerEffect =
  | { type: 'HELD'; waiter: number; leaseId: string }
  | { type: 'REFUSE'; waiter: number; code: Refusal }
  /** Send a lease request. If `isNew`, it must be durable in the journal before it is sent. */
  | { type: 'REQUEST'; request: LeaseRequest; budget: WalletBudget; isNew: boolean }
  /** Append a record to the journal; nothing waits for it. */
  | { type: 'WRITE'; record: BookkeepingRecord }
  /** Report charges at once: a lease waits to be closed. */
  | { type: 'SETTLE' }
  | { type: 'CLOSE'; leaseId: string; count: number; sum: Micros }
  | { type: 'RETRY'; budgetId: string; afterMs: number };

/** One event being handled: the state to change, the time, and the effects so far. */
export interface Step {
  state: LedgerState;
  now: Moment;
  effects: LedgerEffect[];
}

/** Exponential back-off: `first` ms doubled with each attempt, at most `most` ms. */
export function backoffMs({ first, most }: { first: number; most: number }, attempts: number): number {
  return Math.min(most, first * 2 ** Math.min(attempts, 20));
}
