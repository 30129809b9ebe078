/** How much a node gets: the pure rule behind a lease. */
import type { Micros } from '@gateway/shared/money';

/** How long a node may spend from a lease without hearing from the control plane, in ms. */
export const LEASE_OFFLINE_MS = 24 * 60 * 60 * 1000;

/** A lease takes at most this part of what is free in the wallet: one tenth. */
const BALANCE_PART = 10n;
/** Below this many requests' worth of money, a lease is exactly one request. */
const SMALL_BALANCE_NEEDS = 50n;

/**
 * The amount to grant: at least `need`, at most `want` and a tenth of the balance, in whole requests.
 * Exactly `need` where the balance is small, so that money for k requests on many nodes gives exactly k.
 * Undefined where not even `need` is there.
 */
export function decideGrant({
  balance,
  need,
  want,
}: {
  balance: Micros;
  need: Micros;
  want: Micros;
}): Micros | undefined {
  if (balance < need) return undefined;
  if (balance < SMALL_BALANCE_NEEDS * need) return need;
  const part = balance / BALANCE_PART;
  const bounded = want < part ? want : part;
  return bounded - (bounded % need);
}
