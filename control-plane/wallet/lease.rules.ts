/** How much a node gets: the pure rule behind a lease. */
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
