/**
 * Settlement of usage reports: stores each reported request as a usage row and posts its charge to the
 * ledger. A node may report a request several times; the request is stored and charged once.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { USAGE_BATCH_MAX } from '@gateway/shared/usage-report';
import { UserFailure } from '../graphql/errors.ts';
import type { Report } from './admission.service.ts';
import { makePartitions } from './retention.service.ts';
import { settleTogether } from './settlement.group.ts';
import type { ReportAnswer } from './settlement.rules.ts';

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
 * `earner` chooses one of the accounts of revenue.
 *
 * Throws LIMIT_REACHED above `USAGE_BATCH_MAX` records. Throws INVALID, and settles nothing, if the database
 * refuses a value of a record: the node then reports smaller batches to isolate that record.
 */
export async function settle(
  em: EntityManager,
  report: Report,
  earner = report.node.id,
): Promise<ReportAnswer> {
  checkSize(report);
  try {
    return await settleOrInvalid(em, report, earner);
  } catch (error) {
    if (!isMissingMonth(error)) throw error;
  }
  // A job creates the partitions of coming months. Here it has not, because the database's clock jumped.
  await makePartitions(em);
  return settleOrInvalid(em, report, earner);
}

/** Throws LIMIT_REACHED above `USAGE_BATCH_MAX` records. */
export function checkSize({ records }: Report): void {
  if (records.length <= USAGE_BATCH_MAX) return;
  throw new UserFailure('LIMIT_REACHED', `Report at most ${USAGE_BATCH_MAX} records at once.`, 'records');
}

/** Settles the batch. Throws INVALID if the database refuses a value of a record. */
async function settleOrInvalid(em: EntityManager, report: Report, earner: string): Promise<ReportAnswer> {
  try {
    return await settleAlone(em, report, earner);
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

async function settleAlone(em: EntityManager, report: Report, earner: string): Promise<ReportAnswer> {
  const [answer] = await settleTogether(em, [report], earner);
  if (!answer) throw new Error('A report has no answer.');
  return answer;
}
