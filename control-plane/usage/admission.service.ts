/** Which records of a batch may be settled: what can be checked is checked before anything is written. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { query, sql } from '../sql.ts';
import { lockLeases } from '../wallet/lease.rows.ts';
import type { Lease } from '../wallet/lease.rows.ts';
import { beyondGrant, chargeOf, malformation, refusalOf } from './settlement.rules.ts';
import type { KnownToSettlement, ReportedUsage } from './settlement.rules.ts';
import { earlierCharges } from './usage.rows.ts';
import type { EarlierCharge } from './usage.rows.ts';

export const REPLAYED_ELSEWHERE = 'request id is already settled under another place';

/** One refused record and why. */
export interface Refusal {
  usage: ReportedUsage;
  reason: string;
}

/** A batch, sorted. */
export interface Admission {
  /** The leases that the batch names, locked. */
  leases: Map<string, Lease>;
  /** Each request once: to be settled unless it is known already. */
  candidates: ReportedUsage[];
  refusals: Refusal[];
  /** How many records say what another one of the batch says. */
  repeated: number;
}

/** Locks the leases of the batch and sorts out what can never be settled. */
export async function admit(
  em: EntityManager,
  nodeId: string,
  reported: readonly ReportedUsage[],
): Promise<Admission> {
  const refusals: Refusal[] = [];
  const records: ReportedUsage[] = [];
  for (const usage of reported) {
    const reason = malformation(usage);
    if (reason) refusals.push({ usage, reason });
    else records.push(usage);
  }
  const leases = await lockLeases(em, unique(records.map((usage) => usage.leaseId)));
  const admission: Admission = { leases, candidates: [], refusals, repeated: 0 };
  await sortOutForeign(em, admission, { nodeId, records });
  await sortOutBeyond(em, admission);
  return admission;
}

/** Refuses what is not the node's to report, or stands in the place of something else. */
async function sortOutForeign(
  em: EntityManager,
  admission: Admission,
  { nodeId, records }: { nodeId: string; records: readonly ReportedUsage[] },
): Promise<void> {
  const { refusals } = admission;
  const known = await knownTo(em, admission, { nodeId, records });
  const places = await earlierCharges(em, { places: records.flatMap((usage) => chargeOf(usage) ?? []) });
  const byPlace = new Map(places.map((place) => [placeKey(place), place.requestId]));
  const candidates = new Map<string, ReportedUsage>();
  for (const usage of records) {
    const earlier = candidates.get(usage.requestId);
    const place = chargeOf(usage);
    const holder = place && byPlace.get(placeKey(place));
    const reason =
      refusalOf(usage, known) ??
      (holder !== undefined && holder !== usage.requestId
        ? 'another request has this place in the journal'
        : undefined) ??
      (earlier && !isSame(chargeOf(earlier), place) ? REPLAYED_ELSEWHERE : undefined);
    if (reason) refusals.push({ usage, reason });
    else if (earlier) admission.repeated += 1;
    else candidates.set(usage.requestId, usage);
    if (place && !reason) byPlace.set(placeKey(place), usage.requestId);
  }
  admission.candidates = [...candidates.values()];
}

/** What of that which the records name there is, as far as the node may name it. */
async function knownTo(
  em: EntityManager,
  { leases }: Admission,
  { nodeId, records }: { nodeId: string; records: readonly ReportedUsage[] },
): Promise<KnownToSettlement> {
  const journals = await idsIn(
    em,
    sql`select id from node_journal where node_id = ${nodeId}
    and id = any(${unique(records.map((usage) => usage.journalId))}::text[])`,
  );
  const wallets = await idsIn(
    em,
    sql`select id from wallet where id = any(${unique(records.map((usage) => usage.walletId))}::text[])`,
  );
  const keys = await query<{ id: string; wallet_id: string }>(
    em,
    sql`select id, wallet_id from api_key
    where id = any(${unique(records.map((usage) => usage.keyId))}::text[])`,
  );
  return { journals, leases, wallets, walletsOfKeys: new Map(keys.map((key) => [key.id, key.wallet_id])) };
}

/**
 * Refuses what no lease was granted for. An honest node holds each price in its lease before it asks an
 * upstream, so whatever order its reports and the end of the lease come in, what it charges always fits.
 */
async function sortOutBeyond(em: EntityManager, admission: Admission): Promise<void> {
  const charges = admission.candidates.flatMap((usage) => chargeOf(usage) ?? []);
  if (charges.length === 0) return;
  const rooms = await roomsOf(em, [...admission.leases.values()]);
  if (beyondGrant(charges, rooms).size === 0) return;
  // Only now is it asked which of them are in the books already: they need no room a second time.
  const known = await earlierCharges(em, { requestIds: charges.map(({ requestId }) => requestId) });
  const settled = new Set(known.map(({ requestId }) => requestId));
  const beyond = beyondGrant(
    charges.filter(({ requestId }) => !settled.has(requestId)),
    rooms,
  );
  const isBeyond = ({ requestId }: ReportedUsage): boolean => beyond.has(requestId);
  for (const usage of admission.candidates.filter(isBeyond)) {
    const reason = `cost ${usage.cost} is beyond what lease ${usage.leaseId} was granted`;
    admission.refusals.push({ usage, reason });
  }
  admission.candidates = admission.candidates.filter((usage) => !isBeyond(usage));
}

/** What each lease was granted less all charges it ever had; late ones are not counted in its row. */
async function roomsOf(em: EntityManager, leases: readonly Lease[]): Promise<Map<string, Micros>> {
  const rooms = new Map(leases.map(({ id, granted, chargeSum }) => [id, granted - chargeSum]));
  const ended = leases.filter(({ state }) => state === 'CLOSED' || state === 'RECLAIMED');
  if (ended.length === 0) return rooms;
  const late = await query<{ lease_id: string; sum: string }>(
    em,
    sql`select lease_id, sum(amount)::text as sum from usage_charge
      where lease_id = any(${ended.map(({ id }) => id)}::text[]) and settlement <> 'LEASE' group by lease_id`,
  );
  for (const { lease_id: id, sum } of late) rooms.set(id, (rooms.get(id) ?? 0n) - BigInt(sum));
  return rooms;
}

async function idsIn(em: EntityManager, statement: ReturnType<typeof sql>): Promise<Set<string>> {
  return new Set((await query<{ id: string }>(em, statement)).map((row) => row.id));
}

function unique(values: readonly (string | null)[]): string[] {
  return [...new Set(values.filter((value) => value !== null))];
}

/** Whether both name the same charge, or neither names one. */
export function isSame(one: EarlierCharge | undefined, other: EarlierCharge | undefined): boolean {
  if (!one || !other) return one === other;
  return placeKey(one) === placeKey(other) && one.leaseId === other.leaseId && one.amount === other.amount;
}

function placeKey({ journalId, seq }: { journalId: string; seq: number }): string {
  return `${journalId} ${seq}`;
}
