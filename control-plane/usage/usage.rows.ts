/** Writes and reads rows of the usage log and of charges. Rows are written in bulk and never changed. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import type { AttemptList } from '@gateway/shared/records';
import { newId } from '../database/ids.ts';
import { query, sql } from '../database/sql.ts';
import { storableTried } from './attempt.rules.ts';
import { storableCount, storableIp, storableText, storableTime } from './settlement.rules.ts';
import type { Charge, ReportedUsage } from './settlement.rules.ts';

/**
 * Reported times may be this old, in hours; older ones are stored as the present time. A lease lasts a day
 * without contact, so that correct reports are never older.
 */
const AT_PAST_HOURS = 48;
/** Largest values of the column types. */
const SMALLINT_MAX = 32_767;
const INTEGER_MAX = 2_147_483_647;

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

/**
 * Inserts the records of requests that are not in the log yet, and returns their request ids. `usage_request`
 * makes request ids unique, which the log, partitioned by months, cannot. The stored time is bounded by the
 * grant of the lease and now, regardless of the node's clock, so that a request counts for no month before
 * the one whose spend limit its lease was taken from.
 */
export async function insertUsage(
  em: EntityManager,
  nodeId: string,
  records: readonly ReportedUsage[],
): Promise<Set<string>> {
  if (records.length === 0) return new Set();
  // `order by request_id`: batches with the same requests lock them in one order and cannot deadlock.
  const inserted = await query<{ request_id: string }>(
    em,
    sql`
    with reported as (
      select r.*, case when r.reported_at < now - ${AT_PAST_HOURS} * interval '1 hour' then now
        else least(now, greatest(r.reported_at, l.granted_at)) end as at
      from (select clock_timestamp() as now) as clock,
        jsonb_to_recordset(${JSON.stringify(records.map(toRow))}::jsonb) as r (
        request_id text, id text, lease_id text, reported_at timestamptz, key_id text, wallet_id text,
        pool_id text, billing_group text, source text, model_name text, family text, route_id text,
        base_price bigint, ratio text, cost bigint, input_tokens bigint, output_tokens bigint,
        cached_tokens bigint, reasoning_tokens bigint, status text, outcome text, http_status smallint,
        error_code text, streamed boolean, latency_ms integer, ttft_ms integer, ip inet,
        losses_in_answer integer, attempts jsonb, attempts_omitted integer, repeats integer)
      left join wallet_lease l on l.id = r.lease_id
    ), settled as (
      insert into usage_request (request_id, at) select request_id, at from reported order by request_id
      on conflict (request_id) do nothing returning request_id
    )
    insert into usage_entry (
      request_id, id, at, node_id, key_id, wallet_id, pool_id, billing_group, source, model_name, family,
      route_id, base_price, ratio, cost, input_tokens, output_tokens, cached_tokens, reasoning_tokens,
      status, outcome, http_status, error_code, streamed, latency_ms, ttft_ms, ip, losses_in_answer,
      attempts, attempts_omitted, repeats)
    select request_id, id, at, ${nodeId}, key_id, wallet_id, pool_id, billing_group, source, model_name,
      family, route_id, base_price, ratio, cost, input_tokens, output_tokens, cached_tokens,
      reasoning_tokens, status, outcome, http_status, error_code, streamed, latency_ms, ttft_ms, ip,
      losses_in_answer, attempts, attempts_omitted, coalesce(repeats, 0)
    from reported join settled using (request_id) returning request_id`,
  );
  return new Set(inserted.map((row) => row.request_id));
}

/** Inserts the charges of usage rows that were just inserted. */
export async function insertCharges(em: EntityManager, charges: readonly SettledCharge[]): Promise<void> {
  const rows = charges.map((charge) => ({
    request_id: charge.requestId,
    lease_id: charge.leaseId,
    journal_id: charge.journalId,
    seq: charge.seq,
    amount: charge.amount.toString(),
    settlement: charge.settlement,
    transaction_id: charge.transactionId,
  }));
  await query(
    em,
    sql`
    insert into usage_charge (request_id, lease_id, journal_id, seq, amount, settlement, transaction_id)
    select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (request_id text, lease_id text,
      journal_id text,
      seq bigint, amount bigint, settlement text, transaction_id text)`,
  );
}

/** Charges that were settled before with one of the request ids or journal positions. */
export async function earlierCharges(
  em: EntityManager,
  wanted: { requestIds: readonly string[] } | { positions: readonly { journalId: string; seq: number }[] },
): Promise<EarlierCharge[]> {
  const condition =
    'requestIds' in wanted
      ? sql`request_id = any(${[...wanted.requestIds]}::text[])`
      : sql`(journal_id, seq) in (select * from
        unnest(${wanted.positions.map(({ journalId }) => journalId)}::text[],
        ${wanted.positions.map(({ seq }) => seq)}::bigint[]))`;
  const rows = await query<{
    request_id: string;
    journal_id: string;
    seq: string;
    lease_id: string;
    amount: string;
  }>(em, sql`select request_id, journal_id, seq, lease_id, amount from usage_charge where ${condition}`);
  return rows.map((row) => ({
    requestId: row.request_id,
    journalId: row.journal_id,
    seq: Number(row.seq),
    leaseId: row.lease_id,
    amount: BigInt(row.amount),
  }));
}

function toRow(usage: ReportedUsage): Record<string, unknown> {
  return {
    request_id: usage.requestId,
    id: newId('use'),
    lease_id: usage.leaseId,
    reported_at: storableTime(usage.at),
    key_id: usage.keyId,
    wallet_id: usage.walletId,
    pool_id: usage.poolId,
    billing_group: usage.group,
    source: usage.source,
    model_name: storableText(usage.modelName),
    family: usage.family,
    route_id: usage.routeId,
    base_price: usage.basePrice.toString(),
    ratio: usage.ratio,
    cost: usage.cost.toString(),
    input_tokens: count(usage.inputTokens),
    output_tokens: count(usage.outputTokens),
    cached_tokens: count(usage.cachedTokens),
    reasoning_tokens: count(usage.reasoningTokens),
    status: usage.status,
    outcome: usage.outcome,
    http_status: storableCount(usage.httpStatus, SMALLINT_MAX),
    error_code: usage.errorCode === null ? null : storableText(usage.errorCode),
    streamed: usage.streamed,
    latency_ms: count(usage.latencyMs),
    ttft_ms: count(usage.ttftMs),
    ip: storableIp(usage.ip),
    losses_in_answer: count(usage.lossesInAnswer),
    repeats: count(usage.repeats ?? 0),
    ...(usage.tried ? toColumns(storableTried(usage.tried)) : {}),
  };
}

function toColumns({ attempts, omitted }: AttemptList): Record<string, unknown> {
  return { attempts, attempts_omitted: omitted };
}

function count(value: number | null): number | null {
  return value === null ? null : storableCount(value, INTEGER_MAX);
}
