/**
 * Settles reports of several nodes in one transaction. Most statements serve all reports, so that the work
 * which a report costs beside its rows is done once: planning, sums, the commit, notifications.
 */
import { setImmediate } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { newId } from '../database/ids.ts';
import { command, runTogether } from '../database/statements.ts';
import type { ReadStatement } from '../database/statements.ts';
import { inTransaction, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { lostNotices } from '../process/metrics.ts';
import { leaseAccount, lockedAccounts, postAll, revenueAccount } from '../wallet/ledger.ts';
import type { Posting } from '../wallet/ledger.ts';
import type { Lease } from '../wallet/lease.rows.ts';
import { admit, isSameCharge, SETTLED_DIFFERENTLY } from './admission.service.ts';
import type { Admission, Admitted, Refusal, Report } from './admission.service.ts';
import { insertEntries } from './entry.columns.ts';
import type { StoredUsage } from './entry.columns.ts';
import { settleLate } from './late-charge.service.ts';
import { chargeOf, planSettlement, storableText } from './settlement.rules.ts';
import type {
  Charge,
  LeaseHolding,
  ReportAnswer,
  ReportedUsage,
  SettlementPlan,
} from './settlement.rules.ts';
import { claimRequests, earlierCharges, insertCharges } from './usage.rows.ts';
import type { SettledCharge } from './usage.rows.ts';
import { announceSettled } from './usage.events.ts';

/**
 * Maximum wait of reports of several nodes for one lock, in ms. Nodes give up after 5 s, and a locked lease
 * of one node must not delay the others for longer.
 */
const GROUP_LOCK_MS = 2_000;
/**
 * Maximum wait of a report alone for one lock, in ms: a little less than the 5 s after which its node repeats
 * it. A report that waits longer has no reader any more, and takes a transaction from other nodes.
 */
const ALONE_LOCK_MS = 4_500;

/** The decision about a report: the rows of its new requests, its refusals, and its answer. */
interface Decided {
  node: Report['node'];
  stored: StoredUsage[];
  refusals: Refusal[];
  answer: ReportAnswer;
}

/**
 * Settles the reports in one transaction, publishes them, and returns their answers in the same order. Every
 * report has a node of its own, and no two reports name the same request. `earner` chooses the account of
 * revenue, for which others wait until the commit. Throws the errors of the database unchanged; then no
 * report is settled. One of them is 55P03 (lock_not_available), after which the same reports may be repeated.
 */
export async function settleTogether(
  em: EntityManager,
  reports: readonly Report[],
  earner = reports[0]?.node.id ?? '',
): Promise<ReportAnswer[]> {
  const { decided, owners } = await inTransaction(em, (inner) =>
    settleIn(inner, reports, revenueAccount(earner)),
  );
  const settled = decided.flatMap(({ stored }) => stored.map(({ usage }) => usage));
  // The reports are settled. An error here must not tell the nodes that they are not.
  await announceSettled(em, settled, owners).catch(() => lostNotices.inc());
  return decided.map(({ answer }) => answer);
}

async function settleIn(
  em: EntityManager,
  reports: readonly Report[],
  revenue: string,
): Promise<Pick<Admitted, 'owners'> & { decided: Decided[] }> {
  const lockMs = reports.length > 1 ? GROUP_LOCK_MS : ALONE_LOCK_MS;
  const { admissions, leases, owners, isRepetition } = await admit(em, reports, lockMs);
  const { times, result: holdings } = await claimRequests(
    em,
    admissions.flatMap(({ candidates }) => candidates),
    { isRepetition, also: lockedHoldings(leases) },
  );
  const decided: Decided[] = [];
  for (const admission of admissions) decided.push(await decide(em, admission, times));
  const planned = planCharges(decided, holdings);
  const [, rows] = await Promise.all([postCovered(em, planned, revenue), rowsOf(planned, decided)]);
  const late = await postLate(em, planned, revenue);
  await runTogether(em, [...alarmsOf(decided), ...storing(late), ...rows].map(command));
  return { decided, owners };
}

/** Decides about a report whose new requests are claimed: `times` has their stored times by request id. */
async function decide(
  em: EntityManager,
  admission: Admission,
  times: ReadonlyMap<string, string>,
): Promise<Decided> {
  const { node, candidates, repeated } = admission;
  const stored = candidates.flatMap((usage) => {
    const at = times.get(usage.requestId);
    return at === undefined ? [] : [{ usage, nodeId: node.id, at }];
  });
  const compared = await compareWithEarlier(
    em,
    candidates.filter((usage) => !times.has(usage.requestId)),
  );
  const refusals = [...admission.refusals, ...compared.refusals];
  const answer = {
    accepted: stored.length,
    duplicates: compared.duplicates + repeated,
    rejected: refusals.map(({ usage }) => usage.requestId),
  };
  return { node, stored, refusals, answer };
}

/** Divides records of requests that are already in the log into duplicates and refusals. */
async function compareWithEarlier(
  em: EntityManager,
  records: readonly ReportedUsage[],
): Promise<{ duplicates: number; refusals: Refusal[] }> {
  if (records.length === 0) return { duplicates: 0, refusals: [] };
  const earlier = await earlierCharges(
    em,
    records.map((usage) => usage.requestId),
  );
  const byId = new Map(earlier.map((charge) => [charge.requestId, charge]));
  const refusals: Refusal[] = [];
  for (const usage of records) {
    if (!isSameCharge(byId.get(usage.requestId), chargeOf(usage)))
      refusals.push({ usage, reason: SETTLED_DIFFERENTLY });
  }
  return { duplicates: records.length - refusals.length, refusals };
}

/** The new charges of a report, and how they are paid. */
interface Planned {
  node: Report['node'];
  charges: readonly Charge[];
  plan: SettlementPlan;
  /** Id of the ledger transaction of the charges that leases pay. */
  transactionId: string;
}

function planCharges(decided: readonly Decided[], holdings: ReadonlyMap<string, LeaseHolding>): Planned[] {
  return decided.flatMap(({ node, stored }) => {
    const charges = stored.flatMap(({ usage }) => chargeOf(usage) ?? []);
    if (charges.length === 0) return [];
    return [{ node, charges, plan: planSettlement(charges, holdings), transactionId: newId('txn') }];
  });
}

/** Posts the charges that leases pay, one ledger transaction for each report. */
async function postCovered(em: EntityManager, planned: readonly Planned[], revenue: string): Promise<void> {
  const paying = planned.filter(({ plan }) => plan.covered.length > 0);
  const results = await postAll(
    em,
    paying.map((batch) => ({ posting: postingOf(batch, revenue), id: batch.transactionId })),
  );
  for (const [at, { charges }] of paying.entries()) {
    const outcome = results[at]?.outcome;
    if (outcome !== 'POSTED')
      throw new Error(`The settlement of ${charges[0]?.requestId} was not posted: ${outcome}.`);
  }
}

function postingOf({ node, charges, plan: { covered, leaseDebits } }: Planned, revenue: string): Posting {
  return {
    kind: 'USAGE',
    reference: `settle:${charges[0]?.requestId}`,
    actor: node,
    lines: [...leaseDebits].flatMap(([leaseId, { cash, gift }]) => [
      { account: leaseAccount(leaseId, 'CASH'), amount: -cash },
      { account: leaseAccount(leaseId, 'GIFT'), amount: -gift },
      { account: revenue, amount: cash + gift },
    ]),
    description: `${covered.length} ${covered.length === 1 ? 'request' : 'requests'}`,
  };
}

/** Posts the charges that no lease can pay, each in a ledger transaction of its own, and returns them. */
async function postLate(
  em: EntityManager,
  planned: readonly Planned[],
  revenue: string,
): Promise<SettledCharge[]> {
  const charges: SettledCharge[] = [];
  for (const { node, plan } of planned)
    for (const charge of plan.late) charges.push(await settleLate(em, { charge, node, revenue }));
  return charges;
}

/**
 * SQL that stores the charges that leases pay, and the rows of the log. It is run after the postings.
 * Triggers add the rows to the sums of their hours, so the rows come last: other settlements with the same
 * wallets or keys wait from here to the commit.
 */
async function rowsOf(planned: readonly Planned[], decided: readonly Decided[]): Promise<Statement[]> {
  // The postings are sent first: this is computed while the database works on them.
  await setImmediate();
  const covered = planned.flatMap(({ plan, transactionId }) =>
    plan.covered.map((charge) => ({ ...charge, settlement: 'LEASE' as const, transactionId })),
  );
  const debits = planned.flatMap(({ plan }) => [...plan.leaseDebits]);
  const stored = decided.flatMap((one) => one.stored);
  return [
    ...storing(covered),
    ...(debits.length === 0 ? [] : [addToLeases(debits)]),
    ...(stored.length === 0 ? [] : [insertEntries(stored)]),
  ];
}

function storing(charges: readonly SettledCharge[]): Statement[] {
  return charges.length === 0 ? [] : [insertCharges(charges)];
}

/**
 * Locks the accounts of the leases and returns their balances, by lease id. Accounts are credited only when
 * the lease is granted: one without a grant is left out, because it stays empty.
 */
function lockedHoldings(leases: ReadonlyMap<string, Lease>): ReadStatement<Map<string, LeaseHolding>> {
  const { statement, read } = lockedAccounts(
    [...leases.values()].flatMap(({ id, cash, gift }) => [
      ...(cash > 0n ? [leaseAccount(id, 'CASH')] : []),
      ...(gift > 0n ? [leaseAccount(id, 'GIFT')] : []),
    ]),
  );
  return { statement, read: (rows) => holdingsOf(leases, read(rows)) };
}

function holdingsOf(
  leases: ReadonlyMap<string, Lease>,
  balances: ReadonlyMap<string, Micros>,
): Map<string, LeaseHolding> {
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

/** SQL that adds number and sum of the new charges to the row of each lease. */
function addToLeases(
  debits: readonly (readonly [string, { cash: bigint; gift: bigint; count: number }])[],
): Statement {
  return sql`
    update wallet_lease l set charge_count = l.charge_count + d.count, charge_sum = l.charge_sum + d.sum
    from unnest(${debits.map(([id]) => id)}::text[], ${debits.map(([, { count }]) => count)}::integer[],
      ${debits.map(([, { cash, gift }]) => (cash + gift).toString())}::bigint[]) as d (id, count, sum)
    where l.id = d.id`;
}

/** SQL that stores an alarm for each refused record. A second refusal of the same record stores nothing. */
function alarmsOf(decided: readonly Decided[]): Statement[] {
  return decided.flatMap(({ node, refusals }) => (refusals.length === 0 ? [] : [alarms(node.id, refusals)]));
}

function alarms(nodeId: string, refusals: readonly Refusal[]): Statement {
  const journals = refusals.map(({ usage }) => usage.journalId);
  const seqs = refusals.map(({ usage: { seq } }) => (Number.isSafeInteger(seq) ? seq : null));
  return sql`
    insert into settlement_alarm (id, kind, node_id, request_id, journal_id, seq, reason)
      select id, 'REJECTED', ${nodeId}, request_id, journal_id, seq, reason
      from unnest(${refusals.map(() => newId('alm'))}::text[],
        ${refusals.map(({ usage }) => storableText(usage.requestId))}::text[],
        ${journals.map((id) => (id === null ? null : storableText(id)))}::text[], ${seqs}::bigint[],
        ${refusals.map(({ reason }) => reason)}::text[]) as r (id, request_id, journal_id, seq, reason)
    on conflict do nothing`;
}
