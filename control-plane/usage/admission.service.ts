/**
 * Checks the records of a usage report before anything is written: which can be settled, which are refused.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { query, sql } from '../database/sql.ts';
import { lockLeases } from '../wallet/lease.rows.ts';
import type { Lease } from '../wallet/lease.rows.ts';
import { beyondGrant, chargeOf, malformedReason, refusalReason } from './settlement.rules.ts';
import type { References, ReportedUsage } from './settlement.rules.ts';
import { chargesAt, earlierCharges } from './usage.rows.ts';
import type { EarlierCharge } from './usage.rows.ts';

/** Reason of a refused record whose request was settled with another position, lease or amount. */
export const SETTLED_DIFFERENTLY = 'request id is already settled with another position, lease or amount';

/** A refused record and the reason. */
export interface Refusal {
  usage: ReportedUsage;
  reason: string;
}

/** The records of a batch, divided into candidates, refusals and repetitions. */
export interface Admission {
  /** The leases named in the batch, by id and locked. */
  leases: Map<string, Lease>;
  /** Records to settle unless they were settled before; each request once. */
  candidates: ReportedUsage[];
  refusals: Refusal[];
  /** Number of records that repeat a candidate of the batch. */
  repeated: number;
}

/** Locks the leases of the batch and separates the records that can never be settled. */
export async function admit(
  em: EntityManager,
  nodeId: string,
  reported: readonly ReportedUsage[],
): Promise<Admission> {
  const refusals: Refusal[] = [];
  const records: ReportedUsage[] = [];
  for (const usage of reported) {
    const reason = malformedReason(usage);
    if (reason) refusals.push({ usage, reason });
    else records.push(usage);
  }
  const leases = await lockLeases(em, unique(records.map((usage) => usage.leaseId)));
  const admission: Admission = { leases, candidates: [], refusals, repeated: 0 };
  await refuseForeign(em, admission, { nodeId, records });
  await refuseBeyondGrant(em, admission);
  return admission;
}

/** Refuses records that the node may not report, or whose journal position belongs to another request. */
async function refuseForeign(
  em: EntityManager,
  admission: Admission,
  { nodeId, records }: { nodeId: string; records: readonly ReportedUsage[] },
): Promise<void> {
  const { refusals } = admission;
  const earlierOnes = await chargesAt(
    em,
    records.flatMap((usage) => chargeOf(usage) ?? []),
  );
  const known = {
    ...(await readReferences(em, admission, { nodeId, records })),
    settled: settledIn(records, earlierOnes),
  };
  const byPosition = new Map(earlierOnes.map((charge) => [positionOf(charge), charge.requestId]));
  const candidates = new Map<string, ReportedUsage>();
  for (const usage of records) {
    const earlier = candidates.get(usage.requestId);
    const charge = chargeOf(usage);
    const holder = charge && byPosition.get(positionOf(charge));
    const reason =
      refusalReason(usage, known) ??
      (holder !== undefined && holder !== usage.requestId
        ? 'another request has this position in the journal'
        : undefined) ??
      (earlier && !isSameCharge(chargeOf(earlier), charge) ? SETTLED_DIFFERENTLY : undefined);
    if (reason) refusals.push({ usage, reason });
    else if (earlier) admission.repeated += 1;
    else candidates.set(usage.requestId, usage);
    if (charge && !reason) byPosition.set(positionOf(charge), usage.requestId);
  }
  admission.candidates = [...candidates.values()];
}

/** Ids of the records whose charge is one of `earlier`. */
function settledIn(records: readonly ReportedUsage[], earlier: readonly EarlierCharge[]): Set<string> {
  const byId = new Map(earlier.map((charge) => [charge.requestId, charge]));
  const isSettled = (usage: ReportedUsage): boolean =>
    byId.has(usage.requestId) && isSameCharge(byId.get(usage.requestId), chargeOf(usage));
  return new Set(records.filter(isSettled).map(({ requestId }) => requestId));
}

/** Which referenced journals, leases, wallets and keys exist; journals only if they belong to the node. */
async function readReferences(
  em: EntityManager,
  { leases }: Admission,
  { nodeId, records }: { nodeId: string; records: readonly ReportedUsage[] },
): Promise<Omit<References, 'settled'>> {
  const rows = await query<{ kind: 'journal' | 'wallet' | 'key'; id: string; wallet_id: string }>(
    em,
    sql`
    select 'journal' as kind, id, '' as wallet_id from node_journal where node_id = ${nodeId}
      and id = any(${unique(records.map((usage) => usage.journalId))}::text[])
    union all select 'wallet', id, id from wallet
      where id = any(${unique(records.map((usage) => usage.walletId))}::text[])
    union all select 'key', id, wallet_id from api_key
      where id = any(${unique(records.map((usage) => usage.keyId))}::text[])`,
  );
  const idsOf = (wanted: string): string[] => rows.flatMap(({ kind, id }) => (kind === wanted ? [id] : []));
  return {
    leases,
    journals: new Set(idsOf('journal')),
    wallets: new Set(idsOf('wallet')),
    walletsOfKeys: new Map(
      rows.flatMap(({ kind, id, wallet_id: walletId }) => (kind === 'key' ? [[id, walletId]] : [])),
    ),
  };
}

/**
 * Refuses charges beyond the grant of their lease. A correct node holds each price in its lease before it
 * asks an upstream, so its charges always fit, in any order of reports and the end of the lease.
 */
async function refuseBeyondGrant(em: EntityManager, admission: Admission): Promise<void> {
  const charges = admission.candidates.flatMap((usage) => chargeOf(usage) ?? []);
  if (charges.length === 0) return;
  const remaining = await remainingGrants(em, [...admission.leases.values()]);
  if (beyondGrant(charges, remaining).size === 0) return;
  // Charges settled before need no grant again. They are looked up only here, because this is rare.
  const known = await earlierCharges(
    em,
    charges.map(({ requestId }) => requestId),
  );
  const settled = new Set(known.map(({ requestId }) => requestId));
  const beyond = beyondGrant(
    charges.filter(({ requestId }) => !settled.has(requestId)),
    remaining,
  );
  const isBeyond = ({ requestId }: ReportedUsage): boolean => beyond.has(requestId);
  for (const usage of admission.candidates.filter(isBeyond)) {
    const reason = `cost ${usage.cost} is beyond what lease ${usage.leaseId} was granted`;
    admission.refusals.push({ usage, reason });
  }
  admission.candidates = admission.candidates.filter((usage) => !isBeyond(usage));
}

/**
 * The grant of each lease minus all its charges. Late charges are added up here; the lease's row lacks them.
 */
async function remainingGrants(em: EntityManager, leases: readonly Lease[]): Promise<Map<string, Micros>> {
  const remaining = new Map(leases.map(({ id, granted, chargeSum }) => [id, granted - chargeSum]));
  const ended = leases.filter(({ state }) => state === 'CLOSED' || state === 'RECLAIMED');
  if (ended.length === 0) return remaining;
  const late = await query<{ lease_id: string; sum: string }>(
    em,
    sql`select lease_id, sum(amount)::text as sum from usage_charge
      where lease_id = any(${ended.map(({ id }) => id)}::text[]) and settlement <> 'LEASE' group by lease_id`,
  );
  for (const { lease_id: id, sum } of late) remaining.set(id, (remaining.get(id) ?? 0n) - BigInt(sum));
  return remaining;
}

function unique(values: readonly (string | null)[]): string[] {
  return [...new Set(values.filter((value) => value !== null))];
}

/** Whether both are the same charge (position, lease and amount), or both are undefined. */
export function isSameCharge(one: EarlierCharge | undefined, other: EarlierCharge | undefined): boolean {
  if (!one || !other) return one === other;
  return (
    positionOf(one) === positionOf(other) && one.leaseId === other.leaseId && one.amount === other.amount
  );
}

function positionOf({ journalId, seq }: { journalId: string; seq: number }): string {
  return `${journalId} ${seq}`;
}
