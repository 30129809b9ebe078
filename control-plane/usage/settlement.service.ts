/**
 * Settlement of usage reports: stores each reported request as a usage row and posts its charge to the
 * ledger. A node may report a request several times; the request is stored and charged once.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { USAGE_BATCH_MAX } from '@gateway/shared/usage-report';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { lostNotices } from '../process/metrics.ts';
import { leaseAccount, lockAccounts, post, revenueAccount } from '../wallet/ledger.ts';
import type { Lease } from '../wallet/lease.rows.ts';
import { admit, isSameCharge, SETTLED_DIFFERENTLY } from './admission.service.ts';
import type { Refusal } from './admission.service.ts';
import { settleLate } from './late-charge.service.ts';
import { makePartitions } from './retention.service.ts';
import { chargeOf, planSettlement, storableText } from './settlement.rules.ts';
import type { Charge, LeaseHolding, ReportedUsage } from './settlement.rules.ts';
import { claimRequests, earlierCharges, insertCharges, insertUsage } from './usage.rows.ts';
import type { SettledCharge } from './usage.rows.ts';
import { announceSettled } from './usage.events.ts';

/** A batch of usage records from one node. */
export interface Report {
  node: Actor & { id: string };
  records: readonly ReportedUsage[];
}

export interface ReportAnswer {
  /** Number of records settled now. */
  accepted: number;
  /** Number of records that were settled before. */
  duplicates: number;
  /** Ids of refused requests. Each has a row in `settlement_alarm` with the reason; a retry cannot help. */
  rejected: string[];
}

/**
 * SQLSTATEs that mean that the database refuses a value of a record: data exceptions (22xxx), and violated
 * not-null, foreign-key and check constraints. A retry of the same record fails again. Violated unique
 * constraints are not included, because two reports of the same request can cause them.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const REFUSED_VALUE = /^(22...|2350[23]|23514)$/;
/**
 * SQLSTATE check_violation. PostgreSQL also reports it for a row that fits no partition; the error then names
 * no constraint.
 */
const CHECK_VIOLATION = '23514';

/**
 * Settles a batch in one transaction.
 *
 * A record is a duplicate if its request was settled before with the same journal position, lease and amount.
 * A record is rejected, and an alarm is stored, if its request was settled before with other values, if the
 * record is malformed, if its journal or lease belongs to somebody else, if its cost is not base price ×
 * ratio, or if its charge exceeds the grant of its lease.
 *
 * Throws LIMIT_REACHED above `USAGE_BATCH_MAX` records. Throws INVALID, and settles nothing, if the database
 * refuses a value of a record: the node then reports smaller batches to isolate that record.
 */
export async function settle(em: EntityManager, report: Report): Promise<ReportAnswer> {
  if (report.records.length > USAGE_BATCH_MAX) {
    throw new UserFailure('LIMIT_REACHED', `Report at most ${USAGE_BATCH_MAX} records at once.`, 'records');
  }
  try {
    return await settleOrInvalid(em, report);
  } catch (error) {
    if (!isMissingMonth(error)) throw error;
  }
  // A job creates the partitions of coming months. Here it has not, because the database's clock jumped.
  await makePartitions(em);
  return settleOrInvalid(em, report);
}

/** Settles the batch. Throws INVALID if the database refuses a value of a record. */
async function settleOrInvalid(em: EntityManager, report: Report): Promise<ReportAnswer> {
  try {
    return await settleAll(em, report);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!REFUSED_VALUE.test(code) || isMissingMonth(error)) throw error;
    const message = `The database refuses a value in this batch (${code}). Report its records one by one.`;
    throw new UserFailure('INVALID', message, 'records');
  }
}

/**
 * Whether the error says that the usage log has no partition for the time of a row. Stored times are near the
 * database's present time, so no record is at fault.
 */
function isMissingMonth(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || error.code !== CHECK_VIOLATION) return false;
  return !('constraint' in error) || error.constraint === undefined;
}

/** Settles the batch in one transaction, then publishes it. Throws the errors of the database unchanged. */
async function settleAll(em: EntityManager, report: Report): Promise<ReportAnswer> {
  const { answer, settled } = await inTransaction(em, (inner) => settleIn(inner, report));
  // The batch is settled. An error here must not tell the node that it is not.
  await announceSettled(em, settled).catch(() => lostNotices.inc());
  return answer;
}

async function settleIn(
  em: EntityManager,
  { node, records }: Report,
): Promise<{ answer: ReportAnswer; settled: ReportedUsage[] }> {
  const { leases, candidates, refusals, repeated } = await admit(em, node.id, records);
  const times = await claimRequests(em, candidates);
  const stored = candidates.flatMap((usage) => {
    const at = times.get(usage.requestId);
    return at === undefined ? [] : [{ usage, nodeId: node.id, at }];
  });
  const settled = stored.map(({ usage }) => usage);
  const compared = await compareWithEarlier(
    em,
    candidates.filter((usage) => !times.has(usage.requestId)),
  );
  refusals.push(...compared.refusals);
  await settleCharges(em, { node, leases, charges: settled.flatMap((usage) => chargeOf(usage) ?? []) });
  await storeAlarms(em, node.id, refusals);
  await insertUsage(em, stored);
  const answer = {
    accepted: settled.length,
    duplicates: compared.duplicates + repeated,
    rejected: refusals.map(({ usage }) => usage.requestId),
  };
  return { answer, settled };
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

/**
 * Posts the charges and stores how each was paid. One ledger transaction contains all charges that leases
 * pay; each late charge has a ledger transaction of its own.
 */
async function settleCharges(
  em: EntityManager,
  batch: { node: Actor & { id: string }; leases: ReadonlyMap<string, Lease>; charges: readonly Charge[] },
): Promise<void> {
  const [first] = batch.charges;
  if (!first) return;
  const holdings = await readHoldings(em, batch.leases);
  const plan = planSettlement(batch.charges, holdings);
  const revenue = revenueAccount(batch.node.id);
  const settledCharges: SettledCharge[] = [];
  if (plan.covered.length > 0) {
    const lines = [...plan.leaseDebits].flatMap(([leaseId, { cash, gift }]) => [
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
    const payment = { settlement: 'LEASE' as const, transactionId };
    settledCharges.push(...plan.covered.map((charge) => ({ ...charge, ...payment })));
  }
  for (const charge of plan.late)
    settledCharges.push(await settleLate(em, { charge, node: batch.node, revenue }));
  await insertCharges(em, settledCharges);
  await addToLeases(em, plan.leaseDebits);
}

/** Locks the accounts of the leases and returns their balances, by lease id. */
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

/** Adds number and sum of the new charges to the row of each lease. */
async function addToLeases(
  em: EntityManager,
  leaseDebits: ReadonlyMap<string, { cash: bigint; gift: bigint; count: number }>,
): Promise<void> {
  const debits = [...leaseDebits];
  await query(
    em,
    sql`
    update wallet_lease l set charge_count = l.charge_count + d.count, charge_sum = l.charge_sum + d.sum
    from unnest(${debits.map(([id]) => id)}::text[], ${debits.map(([, { count }]) => count)}::integer[],
      ${debits.map(([, { cash, gift }]) => (cash + gift).toString())}::bigint[]) as d (id, count, sum)
    where l.id = d.id`,
  );
}

/** Stores an alarm for each refused record. A second refusal of the same record stores nothing. */
async function storeAlarms(em: EntityManager, nodeId: string, refusals: readonly Refusal[]): Promise<void> {
  if (refusals.length === 0) return;
  const journals = refusals.map(({ usage }) => usage.journalId);
  const seqs = refusals.map(({ usage: { seq } }) => (Number.isSafeInteger(seq) ? seq : null));
  await query(
    em,
    sql`
    insert into settlement_alarm (id, kind, node_id, request_id, journal_id, seq, reason)
      select id, 'REJECTED', ${nodeId}, request_id, journal_id, seq, reason
      from unnest(${refusals.map(() => newId('alm'))}::text[],
        ${refusals.map(({ usage }) => storableText(usage.requestId))}::text[],
        ${journals.map((id) => (id === null ? null : storableText(id)))}::text[], ${seqs}::bigint[],
        ${refusals.map(({ reason }) => reason)}::text[]) as r (id, request_id, journal_id, seq, reason)
    on conflict do nothing`,
  );
}
