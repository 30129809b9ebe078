/**
 * Pure rules of leases: how much a node gets, when it has to ask again, and when a lease may close. The
 * service and the model check share them.
 */
import type { Micros } from '@gateway/shared/money';

/** How long a node may spend from a lease without contact to the control plane, in ms. */
export const LEASE_OFFLINE_MS = 24 * 60 * 60 * 1000;

/** A lease takes at most one tenth of the free balance. */
const BALANCE_DIVISOR = 10n;
/** If the balance pays for fewer requests than this, a lease covers exactly one request. */
const SMALL_BALANCE_NEEDS = 50n;

/**
 * Amount to grant, in micro-USD and whole requests of price `need`: a tenth of the balance, or the cost of
 * the node's `waiting` requests if that is more; at most `want`. A small balance is granted one request at a
 * time (or the waiting ones), so that money for k requests serves exactly k over many nodes. Undefined if the
 * balance does not cover `need`.
 */
export function decideGrant({
  balance,
  need,
  want,
  waiting,
}: {
  balance: Micros;
  need: Micros;
  want: Micros;
  waiting: Micros;
}): Micros | undefined {
  if (balance < need) return undefined;
  const part = balance < SMALL_BALANCE_NEEDS * need ? need : balance / BALANCE_DIVISOR;
  const bounded = least(want, balance, part > waiting ? part : waiting);
  return bounded - (bounded % need);
}

function least(...amounts: readonly [Micros, ...Micros[]]): Micros {
  return amounts.reduce((one, other) => (one < other ? one : other));
}

/**
 * The answer to a node if `free` does not cover `need`: ASK_AGAIN if open leases hold enough uncharged credit
 * (`leased`) to cover it together with `free`, else NOT_ENOUGH.
 */
export function judgeShortage({
  free,
  leased,
  need,
}: {
  free: Micros;
  leased: Micros;
  need: Micros;
}): 'ASK_AGAIN' | 'NOT_ENOUGH' {
  return free + leased >= need ? 'ASK_AGAIN' : 'NOT_ENOUGH';
}

/**
 * Whether a request without a lease was answered before. Its node already has the answer, so a lease for
 * another copy of the request would be lost. A node sends requests for one wallet or key one after the other,
 * so the last refusal covers all lower numbers. A lease is folded weeks after its end, when no request of its
 * time is in transit; the number of a folded lease covers all lower ones of the journal.
 */
export function wasAnswered(requestNo: number, lastAnswered: number | undefined): boolean {
  return lastAnswered !== undefined && requestNo <= lastAnswered;
}

/**
 * The part of a lease that decides whether it may close; `chargeCount` and `chargeSum` are settled charges.
 */
export interface ClosableLease {
  journalId: string;
  state: 'ACTIVE' | 'ORPHANED' | 'CLOSED' | 'RECLAIMED';
  chargeCount: number;
  chargeSum: Micros;
}

/**
 * Whether a lease may close. UNKNOWN: there is no such lease of this journal. TOO_EARLY: the settled charges
 * differ from `closing`. ENDED: the lease has already ended; count and sum are ignored, because a node that
 * gets a recall late has forgotten its charges and would retry for ever.
 */
export function judgeClosing(
  lease: ClosableLease | undefined,
  closing: { journalId: string; count: number; sum: Micros },
): 'CLOSE' | 'ENDED' | 'TOO_EARLY' | 'UNKNOWN' {
  if (lease?.journalId !== closing.journalId) return 'UNKNOWN';
  if (lease.state === 'CLOSED' || lease.state === 'RECLAIMED') return 'ENDED';
  const isExact = lease.chargeCount === closing.count && lease.chargeSum === closing.sum;
  return isExact ? 'CLOSE' : 'TOO_EARLY';
}

/** Splits an amount over the buckets of a wallet or lease: gift first, the rest from cash. */
export function giftFirst(amount: Micros, giftBalance: Micros): { gift: Micros; cash: Micros } {
  const gift = amount < giftBalance ? amount : giftBalance;
  return { gift, cash: amount - gift };
}
