/** What the money rules are told, and what they ask for. */
import type { FailureCode } from '@gateway/shared/failures';
import type { Micros } from '@gateway/shared/money';
import type { NoteRecord, SettledLease } from './book.ts';
import type { LeaseRequest, LedgerState, Moment, Purse } from './state.ts';

export type RefusalCode = Extract<
  FailureCode,
  'insufficient_funds' | 'spend_limit_reached' | 'wallet_frozen' | 'unavailable'
>;

/** Why a request gets no money; `all_in_use`: requests in flight hold what is left, and may give it back. */
export type Refusal = RefusalCode | 'all_in_use';

export type LedgerEvent =
  | { type: 'HOLD'; waiter: number; walletId: string; keyId: string | null; price: Micros }
  /** A client waited long. Unless `final`, it goes on while the control plane answers, and will soon know. */
  | { type: 'GIVE_UP'; waiter: number; purseId: string; final: boolean }
  | { type: 'RELEASE'; leaseId: string; price: Micros }
  | { type: 'COMMITTED'; leaseId: string; price: Micros }
  | { type: 'GRANTED'; no: number; leaseId: string; amount: Micros; deadlineMs: number }
  | { type: 'REFUSED'; no: number; code: RefusalCode }
  /** Others are giving leases back: ask again. */
  | { type: 'CONFLICT'; no: number }
  | { type: 'UNANSWERED'; no: number }
  /** The journal did not take the question, so it was never sent. */
  | { type: 'UNSENT'; no: number }
  | { type: 'RECALL'; leaseId: string }
  | { type: 'SETTLED'; leases: readonly SettledLease[] }
  | { type: 'CLOSED'; leaseId: string }
  | { type: 'NOT_CLOSED'; leaseId: string }
  /** The control plane answered a heartbeat that was sent at that moment. */
  | { type: 'CONFIRMED'; sentAt: Moment }
  | { type: 'RETRY'; purseId: string }
  | { type: 'TICK' }
  | { type: 'STOP' };

export type LedgerEffect =
  | { type: 'HELD'; waiter: number; leaseId: string }
  | { type: 'REFUSE'; waiter: number; code: Refusal }
  /** `fresh`: it must stand in the journal before it is sent. */
  | { type: 'REQUEST'; request: LeaseRequest; purse: Purse; fresh: boolean }
  | { type: 'WRITE'; record: NoteRecord }
  | { type: 'SETTLE' }
  | { type: 'CLOSE'; leaseId: string; count: number; sum: Micros }
  | { type: 'RETRY'; purseId: string; afterMs: number };

/** One event being handled. */
export interface Turn {
  state: LedgerState;
  now: Moment;
  effects: LedgerEffect[];
}

/** Waiting that doubles with each attempt, from the first to the longest, in ms. */
export function growing({ first, most }: { first: number; most: number }, attempts: number): number {
  return Math.min(most, first * 2 ** Math.min(attempts, 20));
}
