/**
 * Settlement: turns what nodes report into usage rows and charges, each exactly once, however often it is
 * reported.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { USAGE_BATCH_MAX } from '@gateway/shared/usage-report';
import type { Actor } from '../context.ts';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { inTransaction, query, sql } from '../sql.ts';
import { leaseAccount, lockAccounts, post, revenueAccount } from '../wallet/ledger.ts';
import { lockLeases } from '../wallet/lease.rows.ts';
import type { Lease } from '../wallet/lease.rows.ts';
import { walletChanged } from '../wallet/wallet.events.ts';
import { settleLate } from './late.service.ts';
import { chargeOf, malformation, planSettlement, refusalOf, storableText } from './settlement.rules.ts';
import type { Charge, LeaseHolding, ReportedUsage } from './settlement.rules.ts';
import { earlierCharges, insertCharges, insertUsage } from './usage.rows.ts';
import type { EarlierCharge, SettledCharge } from './usage.rows.ts';
import { usageAdded } from './usage.events.ts';

export interface Report {
  node: Actor & { id: string };
  records: readonly ReportedUsage[];
}

export interface ReportAnswer {
  accepted: number;
  duplicates: number;
  /** Can never be settled; each stands in `settlement_alarm` with its reason. */
  rejected: string[];
}

/**
 * The value is at fault, not the moment: data exceptions, and broken constraints but for unique ones, which
 * two reports can race for. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const REFUSED_VALUE = /^(22...|2350[23]|23514)$/;
const REPLAYED_ELSEWHERE = 'request id is already settled under another place';

/** One refused record and why. */
interface Refusal {
  usage: ReportedUsage;
  reason: string;
}

/**
 * Settles a batch in one transaction. Records known under the same place are duplicates and harmless; those
 * known under another place, of a foreign journal or lease, or malformed are rejected and alarmed. Throws
 * LIMIT_REACHED beyond 500 records, and INVALID where the database refuses some record of the batch for what
 * it holds: sent in smaller batches, all others can be settled.
 */
export async function settle(em: EntityManager, report: Report): Promise<ReportAnswer> {
  if (report.records.length > USAGE_BATCH_MAX) {
    throw new UserFailure('LIMIT_REACHED', `A batch has at most ${USAGE_BATCH_MAX} records.`, 'records');
  }
  try {
    return await settleAll(em, report);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!REFUSED_VALUE.test(code)) throw error;
    const message = `The database refuses a record of this batch (${code}). Report its records one by one.`;
    throw new UserFailure('INVALID', message, 'records');
  }
}

function settleAll(em: EntityManager, report: Report): Promise<ReportAnswer> {
  return inTransaction(em, async (inner) => {
    const { leases, candidates, refusals, repeated } = await admit(inner, report);
    const inserted = await insertUsage(inner, report.node.id, candidates);
    const settled = candidates.filter((usage) => inserted.has(usage.requestId));
    const known = await sortOutKnown(
      inner,
      candidates.filter((usage) => !inserted.has(usage.requestId)),
    );
    refusals.push(...known.refusals);
    await charge(inner, {
      node: report.node,
      leases,
      charges: settled.flatMap((usage) => chargeOf(usage) ?? []),
    });
    await alarm(inner, report.node.id, refusals);
    await usageAdded(inner, settled);
    return {
      accepted: settled.length,
      duplicates: known.duplicates + repeated,
      rejected: refusals.map(({ usage }) => usage.requestId),
    };
  });
}

/** Locks the leases of the batch and sorts out what can never be settled. */
async function admit(
  em: EntityManager,
  { node, records: reported }: Report,
): Promise<{
  leases: Map<string, Lease>;
  candidates: ReportedUsage[];
  refusals: Refusal[];
  repeated: number;
}> {
  const refusals: Refusal[] = [];
  const records: ReportedUsage[] = [];
  for (const usage of reported) {
    const reason = malformation(usage);
    if (reason) refusals.push({ usage, reason });
    else records.push(usage);
  }
  const leases = await lockLeases(em, unique(records.map((usage) => usage.leaseId)));
  const journals = await idsIn(
    em,
    sql`select id from node_journal where node_id = ${node.id}
    and id = any(${unique(records.map((usage) => usage.journalId))}::text[])`,
  );
  const wallets = await idsIn(
    em,
    sql`select id from wallet where id = any(${unique(records.map((usage) => usage.walletId))}::text[])`,
  );
  const places = await earlierCharges(em, { places: records.flatMap((usage) => chargeOf(usage) ?? []) });
  const byPlace = new Map(places.map((place) => [placeKey(place), place.requestId]));
  const candidates = new Map<string, ReportedUsage>();
  let repeated = 0;
  for (const usage of records) {
    const earlier = candidates.get(usage.requestId);
    const place = chargeOf(usage);
    const holder = place && byPlace.get(placeKey(place));
    const reason =
      refusalOf(usage, { journals, leases, wallets }) ??
      (holder !== undefined && holder !== usage.requestId
        ? 'another request has this place in the journal'
        : undefined) ??
      (earlier && !isSame(chargeOf(earlier), place) ? REPLAYED_ELSEWHERE : undefined);
    if (reason) refusals.push({ usage, reason });
    else if (earlier) repeated += 1;
    else candidates.set(usage.requestId, usage);
    if (place && !reason) byPlace.set(placeKey(place), usage.requestId);
  }
  return { leases, candidates: [...candidates.values()], refusals, repeated };
}

/** Of records that were there before: the same place is a repetition; another one is a replay and alarmed. */
async function sortOutKnown(
  em: EntityManager,
  records: readonly ReportedUsage[],
): Promise<{ duplicates: number; refusals: Refusal[] }> {
  const earlier = await earlierCharges(em, { requestIds: records.map((usage) => usage.requestId) });
  const byId = new Map(earlier.map((charge) => [charge.requestId, charge]));
  const refusals: Refusal[] = [];
  for (const usage of records) {
    if (!isSame(byId.get(usage.requestId), chargeOf(usage)))
      refusals.push({ usage, reason: REPLAYED_ELSEWHERE });
  }
  return { duplicates: records.length - refusals.length, refusals };
}

/**
 * Moves the money of new charges: one ledger transaction for all that their leases cover, one for each late
 * one.
 */
async function charge(
  em: EntityManager,
  batch: { node: Actor & { id: string }; leases: ReadonlyMap<string, Lease>; charges: readonly Charge[] },
): Promise<void> {
  const [first] = batch.charges;
  if (!first) return;
  const holdings = await readHoldings(em, batch.leases);
  const plan = planSettlement(batch.charges, holdings);
  const revenue = revenueAccount(batch.node.id);
  const settled: SettledCharge[] = [];
  if (plan.covered.length > 0) {
    const lines = [...plan.drains].flatMap(([leaseId, { cash, gift }]) => [
      { account: leaseAccount(leaseId, 'CASH'), amount: -cash },
      { account: leaseAccount(leaseId, 'GIFT'), amount: -gift },
      { account: revenue, amount: cash + gift },
    ]);
    const result = await post(em, {
      kind: 'USAGE',
      reference: `settle:${first.requestId}`,
      actor: batch.node,
      lines,
      description: `${plan.covered.length} ${plan.covered.length === 1 ? 'request' : 'requests'}`,
    });
    if (result.outcome !== 'POSTED')
      throw new Error(`The settlement of ${first.requestId} was not posted: ${result.outcome}.`);
    const { transactionId } = result;
    settled.push(...plan.covered.map((item) => ({ ...item, settlement: 'LEASE' as const, transactionId })));
  }
  for (const item of plan.late)
    settled.push(await settleLate(em, { charge: item, node: batch.node, revenue }));
  await insertCharges(em, settled);
  await countCharges(em, plan.drains);
  await walletChanged(
    em,
    batch.charges.map((item) => item.walletId),
  );
}

async function readHoldings(
  em: EntityManager,
  leases: ReadonlyMap<string, Lease>,
): Promise<Map<string, LeaseHolding>> {
  const ids = [...leases.keys()];
  const balances = await lockAccounts(
    em,
    ids.flatMap((id) => [leaseAccount(id, 'CASH'), leaseAccount(id, 'GIFT')]),
  );
  return new Map(
    [...leases.values()].map((lease) => [
      lease.id,
      {
        cash: balances.get(leaseAccount(lease.id, 'CASH')) ?? 0n,
        gift: balances.get(leaseAccount(lease.id, 'GIFT')) ?? 0n,
        open: lease.state === 'ACTIVE' || lease.state === 'ORPHANED',
      },
    ]),
  );
}

async function countCharges(
  em: EntityManager,
  drains: ReadonlyMap<string, { cash: bigint; gift: bigint; count: number }>,
): Promise<void> {
  const rows = [...drains].map(([id, { cash, gift, count }]) => ({
    id,
    count,
    sum: (cash + gift).toString(),
  }));
  await query(
    em,
    sql`
    update wallet_lease l set charge_count = l.charge_count + d.count, charge_sum = l.charge_sum + d.sum
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as d (id text, count integer, sum bigint) where
      l.id = d.id`,
  );
}

async function alarm(em: EntityManager, nodeId: string, refusals: readonly Refusal[]): Promise<void> {
  for (const { usage, reason } of refusals) {
    const journalId = usage.journalId === null ? null : storableText(usage.journalId);
    const seq = Number.isSafeInteger(usage.seq) ? usage.seq : null;
    await query(
      em,
      sql`
      insert into settlement_alarm (id, kind, node_id, request_id, journal_id, seq, reason)
      values (${newId('alm')}, 'REJECTED', ${nodeId}, ${storableText(usage.requestId)}, ${journalId}, ${seq},
        ${reason})
      on conflict do nothing`,
    );
  }
}

async function idsIn(em: EntityManager, statement: ReturnType<typeof sql>): Promise<Set<string>> {
  return new Set((await query<{ id: string }>(em, statement)).map((row) => row.id));
}

function unique(values: readonly (string | null)[]): string[] {
  return [...new Set(values.filter((value) => value !== null))];
}

function isSame(one: EarlierCharge | undefined, other: EarlierCharge | undefined): boolean {
  if (!one || !other) return one === other;
  return placeKey(one) === placeKey(other) && one.leaseId === other.leaseId && one.amount === other.amount;
}

function placeKey({ journalId, seq }: { journalId: string; seq: number }): string {
  return `${journalId} ${seq}`;
}
