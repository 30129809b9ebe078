/**
 * Whether nodes refused only what they could not pay while the control plane was away: each refusal that a
 * client saw is compared with what the ledger says the node's leases still held at that moment. Pure.
 */
import type { Attempt } from './clients.ts';

/** A lease as the ledger has it. Times by the wall clock, in ms; micro-USD. */
export interface GrantedLease {
  id: string;
  node: string;
  walletId: string;
  granted: bigint;
  grantedAt: number;
  recalledAt: number | null;
  endedAt: number | null;
}
/** A charge: the lease that paid it, and when its request arrived at the node. */
export interface LeaseCharge {
  requestId: string;
  leaseId: string;
  at: number;
}

export interface Outage {
  price: bigint;
  /** From the kill of the control plane to the moment it was started again, by the wall clock, in ms. */
  from: number;
  until: number;
  leases: readonly GrantedLease[];
  charges: readonly LeaseCharge[];
  /** The wallet of each key. */
  wallets: ReadonlyMap<string, string>;
}

export interface Coverage {
  /** Requests that were answered to their end while the control plane was away. */
  served: number;
  /** Refused with 503 for want of a lease. */
  refused: number;
  /** Refused with 503 because an Idempotency-Key cannot be checked then: by rule, whatever a lease holds. */
  unchecked: number;
  /** Told that the wallet is empty, which nobody could know. Must be 0. */
  guessed: number;
  /** The most that the leases of a node held when it refused, in micro-USD. Must be below one price. */
  mostAtRefusal: bigint;
  /** What the leases held when the control plane went away, and what of it was spent until it was back. */
  heldMicros: bigint;
  spentMicros: bigint;
  /** Leases that could not be spent: called back before; granted when no answer could arrive any more. */
  recalled: number;
  unheard: number;
  /** Refusals of what a lease would have paid. Must be empty. */
  findings: string[];
}

/** What was under way when the control plane died may still be answered by its word, for so long, in ms. */
const LAST_WORD_MS = 2_000;
/** Clocks are one machine's; requests overtake each other between client and node by this much, in ms. */
const SKEW_MS = 100;

/** Judges every attempt of the outage. */
export function coverageOf(attempts: readonly Attempt[], outage: Outage): Coverage {
  const { from, until, price } = outage;
  const during = attempts.filter(({ startedAt, endedAt }) => startedAt > from && endedAt < until);
  const { spendable, recalled, unheard } = spendableLeases(outage);
  const late = during.filter(({ startedAt }) => startedAt > from + LAST_WORD_MS);
  const refusals = late.filter(({ status }) => status === 503);
  const wanting = refusals.filter(({ once }) => once === null);
  let mostAtRefusal = 0n;
  const findings: string[] = [];
  for (const refusal of wanting) {
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
    refused: wanting.length,
    unchecked: refusals.length - wanting.length,
    guessed: late.filter(({ status }) => status === 402).length,
    mostAtRefusal,
    heldMicros: granted - sumOf(inSpendable.filter(({ at }) => at <= from)),
    spentMicros: sumOf(inSpendable.filter(({ at }) => at > from && at < until)),
    recalled: recalled.length,
    unheard: unheard.length,
    findings,
  };
}

interface Sorted {
  spendable: GrantedLease[];
  recalled: GrantedLease[];
  unheard: GrantedLease[];
}

/**
 * The leases that nodes could spend from while the control plane was away: granted before, not ended, not
 * called back. One that was granted at the last moment and from which nothing was spent may have been lost
 * with its answer.
 */
function spendableLeases({ from, until, leases, charges }: Outage): Sorted {
  const sorted: Sorted = { spendable: [], recalled: [], unheard: [] };
  for (const lease of leases) {
    if (lease.grantedAt > from || (lease.endedAt !== null && lease.endedAt <= from)) continue;
    const isUsed = charges.some(({ leaseId, at }) => leaseId === lease.id && at < until);
    if (lease.recalledAt !== null && lease.recalledAt <= from + LAST_WORD_MS) sorted.recalled.push(lease);
    else if (!isUsed && lease.grantedAt > from - LAST_WORD_MS) sorted.unheard.push(lease);
    else sorted.spendable.push(lease);
  }
  return sorted;
}

/**
 * What the node's leases of the wallet held when the refused request arrived: granted, less the charges of
 * requests that had arrived before, less what requests held that were under way and came to nothing.
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
