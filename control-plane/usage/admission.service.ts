/**
 * Checks the records of usage reports before anything is written: which can be settled, which are refused.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import type { Actor } from '../graphql/context.ts';
import { command, reading, runTogether } from '../database/statements.ts';
import type { ReadStatement } from '../database/statements.ts';
import { query, sql } from '../database/sql.ts';
import { lockedLeases } from '../wallet/lease.rows.ts';
import type { Lease } from '../wallet/lease.rows.ts';
import { beyondGrant, chargeOf, malformedReason, refusalReason } from './settlement.rules.ts';
import type { Charge, References, ReportedUsage } from './settlement.rules.ts';
import { chargesAt, earlierCharges } from './usage.rows.ts';
import type { EarlierCharge } from './usage.rows.ts';

/** Reason of a refused record whose request was settled with another position, lease or amount. */
export const SETTLED_DIFFERENTLY = 'request id is already settled with another position, lease or amount';

/** A refused record and the reason. */
export interface Refusal {
  usage: ReportedUsage;
  reason: string;
}

/** A batch of usage records from one node. */
export interface Report {
  node: Actor & { id: string };
  records: readonly ReportedUsage[];
}

/** The records of a report, divided into candidates, refusals and repetitions. */
export interface Admission {
  node: Report['node'];
  /** Records to settle unless they were settled before; each request once. */
  candidates: ReportedUsage[];
  refusals: Refusal[];
  /** Number of records that repeat a candidate of the report. */
  repeated: number;
}

/** Facts from the database about the records of several reports. */
interface Known {
  /** Ids of the journals of each node, by node id. */
  journals: ReadonlyMap<string, ReadonlySet<string>>;
  leases: ReadonlyMap<string, Lease>;
  /** The user of each wallet, by wallet id. */
  owners: ReadonlyMap<string, string>;
  walletsOfKeys: ReadonlyMap<string, string>;
  earlier: readonly EarlierCharge[];
}

/** The admissions of several reports, and what was read for them. */
export interface Admitted {
  admissions: Admission[];
  leases: ReadonlyMap<string, Lease>;
  /** The user of each wallet, by wallet id. */
  owners: ReadonlyMap<string, string>;
  /** Whether a journal position of the reports was settled before. */
  isRepetition: boolean;
}

/**
 * Locks the leases named in the reports and separates the records that can never be settled. Reports do not
 * decide about each other. The transaction waits at most `lockMs` for a lock from here on.
 */
export async function admit(
  em: EntityManager,
  reports: readonly Report[],
  lockMs: number,
): Promise<Admitted> {
  const formed = reports.map(({ node, records }) => ({ node, ...byForm(records) }));
  const all = formed.flatMap(({ records }) => records);
  const [, leases, earlier, references] = await runTogether(em, [
    command(sql`select set_config('lock_timeout', ${lockMs.toString()}, true)`),
    lockedLeases(unique(all.map((usage) => usage.leaseId))),
    chargesAt(chargesOf(all)),
    referencesIn(all),
  ]);
  const known = { ...references, leases, earlier };
  const admissions = formed.map((report) => judge(report, known));
  await refuseBeyondGrant(em, leases, admissions);
  return { admissions, leases, owners: references.owners, isRepetition: earlier.length > 0 };
}

/** Divides records into well-formed ones and refusals. */
function byForm(reported: readonly ReportedUsage[]): { records: ReportedUsage[]; refusals: Refusal[] } {
  const refusals: Refusal[] = [];
  const records: ReportedUsage[] = [];
  for (const usage of reported) {
    const reason = malformedReason(usage);
    if (reason) refusals.push({ usage, reason });
    else records.push(usage);
  }
  return { records, refusals };
}

/** Refuses records that the node may not report, or whose journal position belongs to another request. */
function judge(
  { node, records, refusals }: Report & { refusals: Refusal[] },
  { earlier: earlierOnes, journals, ...others }: Known,
): Admission {
  const known: References = {
    ...others,
    wallets: others.owners,
    journals: journals.get(node.id) ?? new Set(),
    settled: settledIn(records, earlierOnes),
  };
  const byPosition = new Map(earlierOnes.map((charge) => [positionOf(charge), charge.requestId]));
  const candidates = new Map<string, ReportedUsage>();
  let repeated = 0;
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
    else if (earlier) repeated += 1;
    else candidates.set(usage.requestId, usage);
    if (charge && !reason) byPosition.set(positionOf(charge), usage.requestId);
  }
  return { node, candidates: [...candidates.values()], refusals, repeated };
}

/** Ids of the records whose charge is one of `earlier`. */
function settledIn(records: readonly ReportedUsage[], earlier: readonly EarlierCharge[]): Set<string> {
  const byId = new Map(earlier.map((charge) => [charge.requestId, charge]));
  const isSettled = (usage: ReportedUsage): boolean =>
    byId.has(usage.requestId) && isSameCharge(byId.get(usage.requestId), chargeOf(usage));
  return new Set(records.filter(isSettled).map(({ requestId }) => requestId));
}

/** Which referenced journals, wallets and keys exist, with the node of each journal. */
function referencesIn(records: readonly ReportedUsage[]): ReadStatement<Omit<Known, 'leases' | 'earlier'>> {
  const statement = sql`
    select 'journal' as kind, id, node_id as owner from node_journal
      where id = any(${unique(records.map((usage) => usage.journalId))}::text[])
    union all select 'wallet', id, user_id from wallet
      where id = any(${unique(records.map((usage) => usage.walletId))}::text[])
    union all select 'key', id, wallet_id from api_key
      where id = any(${unique(records.map((usage) => usage.keyId))}::text[])`;
  return reading(statement, knownOf);
}

interface ReferenceRow {
  kind: 'journal' | 'wallet' | 'key';
  id: string;
  owner: string;
}

function knownOf(rows: readonly ReferenceRow[]): Omit<Known, 'leases' | 'earlier'> {
  const byKind = Map.groupBy(rows, ({ kind }) => kind);
  const journals = Map.groupBy(byKind.get('journal') ?? [], ({ owner }) => owner);
  return {
    journals: new Map([...journals].map(([nodeId, list]) => [nodeId, new Set(list.map(({ id }) => id))])),
    owners: new Map(byKind.get('wallet')?.map(({ id, owner }) => [id, owner])),
    walletsOfKeys: new Map(byKind.get('key')?.map(({ id, owner }) => [id, owner])),
  };
}

/**
 * Refuses charges beyond the grant of their lease. A correct node holds each price in its lease before it
 * asks an upstream, so its charges always fit, in any order of reports and the end of the lease.
 */
async function refuseBeyondGrant(
  em: EntityManager,
  leases: ReadonlyMap<string, Lease>,
  admissions: readonly Admission[],
): Promise<void> {
  if (admissions.every(({ candidates }) => chargesOf(candidates).length === 0)) return;
  const remaining = await remainingGrants(em, [...leases.values()]);
  for (const admission of admissions) await refuseBeyond(em, admission, remaining);
}

async function refuseBeyond(
  em: EntityManager,
  admission: Admission,
  remaining: ReadonlyMap<string, Micros>,
): Promise<void> {
  const charges = chargesOf(admission.candidates);
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

function chargesOf(records: readonly ReportedUsage[]): Charge[] {
  return records.flatMap((usage) => chargeOf(usage) ?? []);
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
