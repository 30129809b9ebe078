/**
 * Judges an outage of the control plane: nodes may refuse only what their leases cannot pay. Compares each
 * refusal that a client saw with the balance of the node's leases at that moment, by the ledger. Pure.
 */
import type { Attempt } from './clients.ts';

/** A lease in the ledger. Times are in ms of the wall clock, amounts in micro-USD. */
export interface GrantedLease {
  id: string;
  node: string;
  walletId: string;
  granted: bigint;
  grantedAt: number;
  recalledAt: number | null;
  endedAt: number | null;
}
/** A charge, with the lease that paid it and the arrival of its request at the node. */
export interface LeaseCharge {
  requestId: string;
  leaseId: string;
  at: number;
}

export interface Outage {
  /** Price of a request in micro-USD. */
  price: bigint;
  /** From the kill of the control plane until its restart, in ms of the wall clock. */
  from: number;
  until: number;
  leases: readonly GrantedLease[];
  charges: readonly LeaseCharge[];
  /** Wallet ids by key id. */
  wallets: ReadonlyMap<string, string>;
}

export interface Coverage {
  /** Complete answers while the control plane was down. */
  served: number;
  /** Requests refused with 503 because of a missing lease. */
  refused: number;
  /** Requests refused with 503 because their Idempotency-Key could not be checked, whatever leases held. */
  unchecked: number;
  /** Requests refused with 402, although no node could know that the wallet is empty. Must be 0. */
  guessed: number;
  /** Largest balance of a node's leases at a refusal, in micro-USD. Must be below one price. */
  mostAtRefusal: bigint;
  /** Balance of the leases at the start of the outage, and the part spent during it. */
  heldMicros: bigint;
  spentMicros: bigint;
  /** Number of leases that could not be spent because they were recalled before. */
  recalled: number;
  /** Number of leases granted so late that the grant may not have arrived. */
  undelivered: number;
  /** Refusals that a lease could have paid. Must be empty. */
  findings: string[];
}

/** How long answers of the killed control plane may still take effect at nodes, in ms. */
const LAST_ANSWERS_MS = 2_000;
/**
 * By how much requests may overtake each other between client and node, in ms; all use one machine's clock.
 */
const SKEW_MS = 100;

/** Judges every attempt of the outage. */
export function coverageOf(attempts: readonly Attempt[], outage: Outage): Coverage {
  const { from, until, price } = outage;
  const during = attempts.filter(({ startedAt, endedAt }) => startedAt > from && endedAt < until);
  const { spendable, recalled, undelivered } = spendableLeases(outage);
  const late = during.filter(({ startedAt }) => startedAt > from + LAST_ANSWERS_MS);
  const refusals = late.filter(({ status }) => status === 503);
  const unpaid = refusals.filter(({ idempotencyKey }) => idempotencyKey === null);
  let mostAtRefusal = 0n;
  const findings: string[] = [];
  for (const refusal of unpaid) {
    const left = leftAt(refusal, { outage, spendable, attempts });
    if (left > mostAtRefusal) mostAtRefusal = left;
    if (left >= price)
      findings.push(`${refusal.requestId} was refused by ${refusal.node}, whose leases held ${left}`);
  }
  const sumOf = (list: readonly unknown[]): bigint => BigInt(list.length) * price;
  const inSpendable = outage.charges.filter((charge) => spendable.some(({ id }) => id === charge.leaseId));
  const granted = spendable.reduce((sum, lease) => sum + lease.granted, 0n);
  return {
    served: during.filter(({ finished }) => finished).length,
    refused: unpaid.length,
    unchecked: refusals.length - unpaid.length,
    guessed: late.filter(({ status }) => status === 402).length,
    mostAtRefusal,
    heldMicros: granted - sumOf(inSpendable.filter(({ at }) => at <= from)),
    spentMicros: sumOf(inSpendable.filter(({ at }) => at > from && at < until)),
    recalled: recalled.length,
    undelivered: undelivered.length,
    findings,
  };
}

interface Sorted {
  spendable: GrantedLease[];
  recalled: GrantedLease[];
  undelivered: GrantedLease[];
}

/**
 * The leases that nodes could spend during the outage: granted before it, not ended, not recalled. The grant
 * of an unused lease from the last moment before the outage may not have arrived.
 */
function spendableLeases({ from, until, leases, charges }: Outage): Sorted {
  const sorted: Sorted = { spendable: [], recalled: [], undelivered: [] };
  for (const lease of leases) {
    if (lease.grantedAt > from || (lease.endedAt !== null && lease.endedAt <= from)) continue;
    const isUsed = charges.some(({ leaseId, at }) => leaseId === lease.id && at < until);
    if (lease.recalledAt !== null && lease.recalledAt <= from + LAST_ANSWERS_MS) sorted.recalled.push(lease);
    else if (!isUsed && lease.grantedAt > from - LAST_ANSWERS_MS) sorted.undelivered.push(lease);
    else sorted.spendable.push(lease);
  }
  return sorted;
}

/**
 * Balance of the node's leases of the wallet when the refused request arrived, in micro-USD: the grants,
 * minus charges of requests that had arrived before, minus the holds of requests in progress that were not
 * charged later.
 */
function leftAt(
  { node, keyId, startedAt }: Attempt,
  {
    outage,
    spendable,
    attempts,
  }: { outage: Outage; spendable: GrantedLease[]; attempts: readonly Attempt[] },
): bigint {
  const { price, charges, wallets } = outage;
  const walletId = wallets.get(keyId);
  const own = spendable.filter((lease) => lease.node === node && lease.walletId === walletId);
  const ids = new Set(own.map(({ id }) => id));
  const granted = own.reduce((sum, lease) => sum + lease.granted, 0n);
  const spent = charges.filter(({ leaseId, at }) => ids.has(leaseId) && at <= startedAt + SKEW_MS);
  const charged = new Set(spent.map(({ requestId }) => requestId));
  const holding = attempts.filter(
    (other) =>
      other.node === node &&
      wallets.get(other.keyId) === walletId &&
      other.startedAt <= startedAt + SKEW_MS &&
      other.endedAt >= startedAt - SKEW_MS &&
      other.status !== 503 &&
      !(other.requestId !== null && charged.has(other.requestId)),
  );
  return granted - BigInt(spent.length + holding.length) * price;
}
