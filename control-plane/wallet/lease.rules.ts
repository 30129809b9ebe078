/**
 * The pure rules behind a lease: how much a node gets, when to ask again, when it closes. Production and the
 * model check use the same ones.
 */
import type { Micros } from '@gateway/shared/money';

/** How long a node may spend from a lease without hearing from the control plane, in ms. */
export const LEASE_OFFLINE_MS = 24 * 60 * 60 * 1000;

/** A lease takes at most this part of what is free in the wallet: one tenth. */
const BALANCE_PART = 10n;
/** Below this many requests' worth of money, a lease is exactly one request. */
const SMALL_BALANCE_NEEDS = 50n;

/**
 * The amount to grant: at most `want`, in whole requests; a tenth of the balance, or what `waiting` requests
 * of the node will spend at once where that is more. Of a small balance nothing beyond these is given, so
 * that money for k requests on many nodes gives exactly k. Undefined where not even `need` is there.
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
  const part = balance < SMALL_BALANCE_NEEDS * need ? need : balance / BALANCE_PART;
  const bounded = least(want, balance, part > waiting ? part : waiting);
  return bounded - (bounded % need);
}

function least(...amounts: readonly [Micros, ...Micros[]]): Micros {
  return amounts.reduce((one, other) => (one < other ? one : other));
}

/**
 * What to tell a node for which `free` is too little: to ask again while open leases hold `parked`,
 * uncharged, that would do; else that there is not enough.
 */
export function judgeShortage({
  free,
  parked,
  need,
}: {
  free: Micros;
  parked: Micros;
  need: Micros;
}): 'ASK_AGAIN' | 'NOT_ENOUGH' {
  return free + parked >= need ? 'ASK_AGAIN' : 'NOT_ENOUGH';
}

/**
 * Whether a question without a lease was refused before: its node has its answer, so a lease for this copy of
 * it would be nobody's. A node asks for a purse one question after the other, so the last refusal stands for
 * all before it.
 */
export function wasRefused(requestNo: number, lastRefused: number | undefined): boolean {
  return lastRefused !== undefined && requestNo <= lastRefused;
}

/** A lease as far as its end is concerned; `charges` are those settled in it. */
export interface EndingLease {
  journalId: string;
  state: 'ACTIVE' | 'ORPHANED' | 'CLOSED' | 'RECLAIMED';
  chargeCount: number;
  chargeSum: Micros;
}

/**
 * What becomes of the order to close a lease. UNKNOWN: it is another journal's. TOO_EARLY: not exactly these
 * charges are settled in it. ENDED: it has ended before, which is harmless whatever its node counts: one that
 * hears late of its recall counts nothing, and would ask for ever.
 */
export function judgeClosing(
  lease: EndingLease | undefined,
  closing: { journalId: string; count: number; sum: Micros },
): 'CLOSE' | 'ENDED' | 'TOO_EARLY' | 'UNKNOWN' {
  if (lease?.journalId !== closing.journalId) return 'UNKNOWN';
  if (lease.state === 'CLOSED' || lease.state === 'RECLAIMED') return 'ENDED';
  const isExact = lease.chargeCount === closing.count && lease.chargeSum === closing.sum;
  return isExact ? 'CLOSE' : 'TOO_EARLY';
}

/** Splits an amount over the buckets of a wallet or lease: gift first, the rest in cash. */
export function giftFirst(amount: Micros, giftBalance: Micros): { gift: Micros; cash: Micros } {
  const gift = amount < giftBalance ? amount : giftBalance;
  return { gift, cash: amount - gift };
}
