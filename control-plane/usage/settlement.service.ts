/**
 * Settlement: stores reported requests as usage rows and posts their charges, each exactly once, however
 * often a node reports them.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { USAGE_BATCH_MAX } from '@gateway/shared/usage-report';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { leaseAccount, lockAccounts, post, revenueAccount } from '../wallet/ledger.ts';
import type { Lease } from '../wallet/lease.rows.ts';
import { walletChanged } from '../wallet/wallet.events.ts';
import { admit, isSameCharge, SETTLED_DIFFERENTLY } from './admission.service.ts';
import type { Refusal } from './admission.service.ts';
import { settleLate } from './late-charge.service.ts';
import { makeMonths } from './retention.service.ts';
import { chargeOf, planSettlement, storableText } from './settlement.rules.ts';
import type { Charge, LeaseHolding, ReportedUsage } from './settlement.rules.ts';
import { earlierCharges, insertCharges, insertUsage } from './usage.rows.ts';
import type { SettledCharge } from './usage.rows.ts';
import { usageAdded } from './usage.events.ts';

/** A batch of records from a node. */
export interface Report {
  node: Actor & { id: string };
  records: readonly ReportedUsage[];
}

export interface ReportAnswer {
  /** Number of records settled now. */
  accepted: number;
  /** Number of records that were settled before. */
  duplicates: number;
  /** Request ids that can never be settled; each is in `settlement_alarm` with its reason. */
  rejected: string[];
}

/**
 * SQLSTATEs caused by a value of a record, which a retry cannot fix: data exceptions and violated
 * constraints except unique ones, for which reports can race.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const REFUSED_VALUE = /^(22...|2350[23]|23514)$/;
/** SQLSTATE check_violation; also of a row without a partition, then without the name of a constraint. */
const CHECK_VIOLATION = '23514';

/**
 * Settles a batch in one transaction. A record that was settled before with the same position, lease and
 * amount is a duplicate. A record is rejected, with an alarm, if it was settled differently, is malformed,
 * names a foreign journal or lease, has a cost other than its price × ratio, or exceeds the grant of its
 * lease. Missing months of the log around now are created. Throws LIMIT_REACHED above 500 records, and
 * INVALID if the database refuses a value of a record; the caller can then report smaller batches to settle
 * all other records.
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
  // The database's clock has jumped to a month that the job has not created yet.
  await makeMonths(em);
  return settleOrInvalid(em, report);
}

/** Settles the batch; throws INVALID if the database refuses a value of a record. */
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
 * Whether the usage log has no partition for the time of a row, which PostgreSQL reports as a check violation
 * without a constraint name. The time is near the database's own now, so no record is the cause.
 */
function isMissingMonth(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || error.code !== CHECK_VIOLATION) return false;
  return !('constraint' in error) || error.constraint === undefined;
}

function settleAll(em: EntityManager, report: Report): Promise<ReportAnswer> {
  return inTransaction(em, async (inner) => {
    const { leases, candidates, refusals, repeated } = await admit(inner, report.node.id, report.records);
    const inserted = await insertUsage(inner, report.node.id, candidates);
    const settled = candidates.filter((usage) => inserted.has(usage.requestId));
    const known = await compareSettled(
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

/** Compares records with the charges that were settled for their requests before: duplicates, or refusals. */
async function compareSettled(
  em: EntityManager,
  records: readonly ReportedUsage[],
): Promise<{ duplicates: number; refusals: Refusal[] }> {
  const earlier = await earlierCharges(em, { requestIds: records.map((usage) => usage.requestId) });
  const byId = new Map(earlier.map((charge) => [charge.requestId, charge]));
  const refusals: Refusal[] = [];
  for (const usage of records) {
    if (!isSameCharge(byId.get(usage.requestId), chargeOf(usage)))
      refusals.push({ usage, reason: SETTLED_DIFFERENTLY });
  }
  return { duplicates: records.length - refusals.length, refusals };
}

/**
 * Posts new charges: one ledger transaction for all charges that leases pay, and one for each late charge.
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
