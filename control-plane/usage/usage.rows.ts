/** Writes and reads rows of the usage log and of charges. Rows are written in bulk and never changed. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { command, reading, run, runTogether } from '../database/statements.ts';
import type { ReadStatement } from '../database/statements.ts';
import { query, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { bigintArray, timeArray } from '../database/number-array.ts';
import { textArray } from '../database/text-array.ts';
import { runsOf, storableTime } from './settlement.rules.ts';
import type { Charge, JournalPosition, ReportedUsage } from './settlement.rules.ts';

/**
 * Reported times may be this old, in hours; older ones are stored as the present time. A lease lasts a day
 * without contact, so that correct reports are never older.
 */
const AT_PAST_HOURS = 48;

/** A charge and how it was paid. */
export interface SettledCharge extends Charge {
  settlement: 'LEASE' | 'WALLET' | 'WRITEOFF';
  transactionId: string;
}

/** A charge that was settled before; `amount` is in micro-USD. */
export interface EarlierCharge {
  requestId: string;
  journalId: string;
  seq: number;
  leaseId: string;
  amount: Micros;
}

/** Options of a claim. */
interface ClaimOptions<Result> {
  /** Whether some of the requests are known to be in the log. */
  isRepetition: boolean;
  /**
   * A statement that is sent with the claim, so that it needs no wait of its own, and runs after the claim.
   * It may be sent twice, because a claim that fails is repeated: PostgreSQL skips it after the failed claim.
   * It must have no effects outside of the transaction.
   */
  also: ReadStatement<Result>;
}

/**
 * Claims the ids of requests that are not in the log yet. Returns their stored times by request id, and the
 * result of `also`. `usage_request` makes request ids unique, which the log, partitioned by time, cannot. The
 * stored time is bounded by the grant of the lease and now, regardless of the node's clock, so that a request
 * counts for no month before the one whose spend limit its lease was taken from. Call it in a transaction.
 */
export async function claimRequests<Result>(
  em: EntityManager,
  records: readonly ReportedUsage[],
  { isRepetition, also }: ClaimOptions<Result>,
): Promise<{ times: Map<string, string>; result: Result }> {
  if (records.length === 0) return { times: new Map(), result: await run(em, also) };
  const claim = claimOf(records);
  const claimed = isRepetition ? undefined : await claimAll(em, claim, also);
  if (claimed) return claimed;
  const unknown = sql`${claim} on conflict (request_id) do nothing ${RETURNING}`;
  const [times, result] = await runTogether(em, [reading(unknown, timesOf), also]);
  return { times, result };
}

/**
 * Claims the requests and returns their times; undefined if one of them is in the log. Cheaper than
 * `on conflict`, which looks for each id before it inserts it.
 */
async function claimAll<Result>(
  em: EntityManager,
  claim: Statement,
  also: ReadStatement<Result>,
): Promise<{ times: Map<string, string>; result: Result } | undefined> {
  try {
    const [, times, , result] = await runTogether(em, [
      command(sql`savepoint claim`),
      reading(sql`${claim} ${RETURNING}`, timesOf),
      command(sql`release savepoint claim`),
      also,
    ]);
    return { times, result };
  } catch (error) {
    if (!isRepeated(error)) throw error;
  }
  await query(em, sql`rollback to savepoint claim`);
  return undefined;
}

interface ClaimedRow {
  request_id: string;
  at: string;
}

const RETURNING = sql`returning request_id, at::text`;
/** https://www.postgresql.org/docs/current/errcodes-appendix.html: unique_violation. */
const UNIQUE_VIOLATION = '23505';

function claimOf(records: readonly ReportedUsage[]): Statement {
  // `order by request_id`: batches with the same requests lock them in one order and cannot deadlock.
  return sql`
    insert into usage_request (request_id, at)
      select r.request_id, case
        when r.reported_at < clock.now - ${AT_PAST_HOURS} * interval '1 hour' then clock.now
        else least(clock.now, greatest(r.reported_at, l.granted_at)) end
      from (select clock_timestamp() as now) as clock cross join unnest(
        ${textArray(records.map(({ requestId }) => requestId))}::text[],
        ${textArray(records.map(({ leaseId }) => leaseId))}::text[],
        ${timeArray(records.map(({ at }) => storableTime(at)))}::timestamptz[])
        as r (request_id, lease_id, reported_at)
      left join wallet_lease l on l.id = r.lease_id order by r.request_id`;
}

function timesOf(claimed: readonly ClaimedRow[]): Map<string, string> {
  return new Map(claimed.map((row) => [row.request_id, row.at]));
}

function isRepeated(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION;
}

/** Inserts the charges of requests that were just claimed. */
export function insertCharges(charges: readonly SettledCharge[]): Statement {
  return sql`
    insert into usage_charge (request_id, lease_id, journal_id, seq, amount, settlement, transaction_id)
    select * from unnest(${textArray(charges.map(({ requestId }) => requestId))}::text[],
      ${textArray(charges.map(({ leaseId }) => leaseId))}::text[],
      ${textArray(charges.map(({ journalId }) => journalId))}::text[],
      ${bigintArray(charges.map(({ seq }) => seq))}::bigint[],
      ${bigintArray(charges.map(({ amount }) => amount))}::bigint[],
      ${textArray(charges.map(({ settlement }) => settlement))}::text[],
      ${textArray(charges.map(({ transactionId }) => transactionId))}::text[])`;
}

/** Charges that were settled before with one of the request ids. */
export async function earlierCharges(
  em: EntityManager,
  requestIds: readonly string[],
): Promise<EarlierCharge[]> {
  if (requestIds.length === 0) return [];
  return run(
    em,
    chargesThat(
      sql`select ${CHARGE} from usage_charge c where c.request_id = any(${textArray(requestIds)}::text[])`,
    ),
  );
}

/** Charges that were settled before with one of the journal positions. */
export function chargesAt(positions: readonly JournalPosition[]): ReadStatement<EarlierCharge[]> {
  const runs = runsOf(positions);
  // A node reports its charges without gaps, so that one look-up in the index is enough for all of them.
  return chargesThat(
    sql`select ${CHARGE} from unnest(${textArray(runs.map(({ journalId }) => journalId))}::text[],
        ${runs.map(({ first }) => first)}::bigint[], ${runs.map(({ last }) => last)}::bigint[])
        as r (journal_id, first, last)
      cross join lateral (select * from usage_charge where journal_id = r.journal_id
        and seq between r.first and r.last offset 0) c`,
  );
}

const CHARGE = sql`c.request_id, c.journal_id, c.seq, c.lease_id, c.amount`;

interface ChargeRow {
  request_id: string;
  journal_id: string;
  seq: string;
  lease_id: string;
  amount: string;
}

function chargesThat(statement: Statement): ReadStatement<EarlierCharge[]> {
  return reading(statement, (rows: readonly ChargeRow[]) =>
    rows.map((row) => ({
      requestId: row.request_id,
      journalId: row.journal_id,
      seq: Number(row.seq),
      leaseId: row.lease_id,
      amount: BigInt(row.amount),
    })),
  );
}
