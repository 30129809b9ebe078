/** Reads and writes the rows of one top-up: its facts, and what they add up to. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, queryOne, sql } from '../database/sql.ts';
import type { TopUpIssue, TopUpRow } from './topup.entity.ts';
import { TopUpSchema } from './topup.entity.ts';
import { refundedOf, stateOf } from './topup.rules.ts';
import type { DisputeStatus, RefundStatus, TakenBack, TopUpEvent, TopUpLife } from './topup.rules.ts';

/** Details of a top-up in an event. Undefined members are unknown and change nothing. */
export interface TopUpDetails {
  sessionId?: string | undefined;
  paymentId?: string | undefined;
  checkoutUrl?: string | undefined;
  receiptUrl?: string | undefined;
  failureCode?: string | undefined;
  failureMessage?: string | undefined;
  expiresAt?: Date | undefined;
  /** Null ends an issue. */
  issue?: TopUpIssue | null | undefined;
}

/** Locks the top-up until the transaction ends, and returns its present row; null if there is none. */
export async function lockTopUp(em: EntityManager, id: string): Promise<TopUpRow | null> {
  const found = await queryOne(em, sql`select id from top_up where id = ${id} for update`);
  return found ? em.findOne(TopUpSchema, { id }, { refresh: true }) : null;
}

/**
 * Serialises events of one payment of the processor until the transaction ends, so that a refund that is
 * stored before its payment is known is found when the payment becomes known. Take it before `lockTopUp`.
 */
export async function lockPayment(em: EntityManager, paymentId: string): Promise<void> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended(${`payment ${paymentId}`}, 0))`);
}

/** The facts that the wallet already reflects. */
export async function lifeOf(em: EntityManager, row: TopUpRow): Promise<TopUpLife> {
  const refunds = await query<StoredFact<RefundStatus>>(
    em,
    sql`select id, amount::text, status from top_up_refund where top_up_id = ${row.id} order by id`,
  );
  const disputes = await query<StoredFact<DisputeStatus>>(
    em,
    sql`select id, amount::text, status from top_up_dispute where top_up_id = ${row.id} order by id`,
  );
  return {
    method: row.method,
    stage: row.stage,
    paid: row.paid ?? null,
    settled: row.credited > 0n,
    credits: row.credits,
    refunds: factsOf(refunds),
    disputes: factsOf(disputes),
  };
}

/** Refunds and disputes of the payment that arrived before it was known to belong to a top-up. */
export async function earlierFacts(em: EntityManager, paymentId: string): Promise<TopUpEvent[]> {
  const refunds = await query<StoredFact<RefundStatus>>(
    em,
    sql`select id, amount::text, status from top_up_refund
      where payment_id = ${paymentId} and top_up_id is null order by id`,
  );
  const disputes = await query<StoredFact<DisputeStatus>>(
    em,
    sql`select id, amount::text, status from top_up_dispute
      where payment_id = ${paymentId} and top_up_id is null order by id`,
  );
  return [
    ...refunds.map((fact) => ({ ...fact, amount: BigInt(fact.amount), type: 'REFUND' as const })),
    ...disputes.map((fact) => ({ ...fact, amount: BigInt(fact.amount), type: 'DISPUTE' as const })),
  ];
}

/** Stores a refund or dispute of a payment that belongs to no top-up yet. */
export async function keepFact(
  em: EntityManager,
  paymentId: string,
  fact: Extract<TopUpEvent, { type: 'REFUND' | 'DISPUTE' }>,
): Promise<void> {
  const rank = fact.type === 'REFUND' ? REFUND_RANK : DISPUTE_RANK;
  const table = fact.type === 'REFUND' ? sql`top_up_refund` : sql`top_up_dispute`;
  await query(
    em,
    sql`insert into ${table} as fact (id, payment_id, amount, status)
    values (${fact.id}, ${paymentId}, ${fact.amount}, ${fact.status})
    on conflict (id) do update set status = excluded.status, updated_at = clock_timestamp()
    where array_position(${rank}::text[], fact.status) < array_position(${rank}::text[], excluded.status)`,
  );
}

/** Stores the life and the details of a locked top-up, of which `known` was stored before. */
export async function saveTopUp(
  em: EntityManager,
  row: TopUpRow,
  { known, life, details }: { known: TopUpLife; life: TopUpLife; details: TopUpDetails },
): Promise<void> {
  const credited = life.settled ? (life.paid ?? 0n) : 0n;
  const state = stateOf(life);
  const paymentId = details.paymentId ?? row.paymentId ?? null;
  const issue = details.issue === undefined ? (row.issue ?? null) : details.issue;
  const isOpen = state === 'CREATED' || state === 'AWAITING_PAYMENT';
  // The processor is asked once more for the receipt, and for the card if it is to be saved.
  const isNewlyPaid = row.method === 'CARD' && row.paid === null && life.paid !== null;
  // Events that follow the payment must not prevent that. An unpaid top-up that has ended is not asked about.
  const keepsCheck = isOpen || row.paid !== null;
  await query(
    em,
    sql`update top_up set stage = ${life.stage}, state = ${state}, paid = ${life.paid},
      credits = ${life.credits}, credited = ${credited}, refunded = ${refundedOf(life)}, issue = ${issue},
      payment_id = ${paymentId}, session_id = coalesce(${details.sessionId ?? null}, session_id),
      checkout_url = case when ${isOpen} then coalesce(${details.checkoutUrl ?? null}, checkout_url) end,
      receipt_url = coalesce(${details.receiptUrl ?? null}, receipt_url),
      failure_code = coalesce(${details.failureCode ?? null}, failure_code),
      failure_message = coalesce(${details.failureMessage ?? null}, failure_message),
      expires_at = coalesce(${details.expiresAt ?? null}::timestamptz, expires_at),
      check_at = case when ${keepsCheck} then check_at when ${isNewlyPaid} then clock_timestamp() end,
      updated_at = clock_timestamp()
    where id = ${row.id}`,
  );
  await saveFacts(em, { id: row.id, paymentId, known, life });
}

interface FactsToSave {
  id: string;
  paymentId: string | null;
  known: TopUpLife;
  life: TopUpLife;
}

/** Stores the refunds and disputes that are new or have changed. */
async function saveFacts(em: EntityManager, { id, paymentId, known, life }: FactsToSave): Promise<void> {
  for (const [refundId, { amount, status }] of life.refunds) {
    if (known.refunds.get(refundId)?.status === status) continue;
    await query(
      em,
      sql`insert into top_up_refund (id, payment_id, top_up_id, amount, status)
      values (${refundId}, ${paymentId}, ${id}, ${amount}, ${status})
      on conflict (id) do update set top_up_id = ${id}, status = ${status}, updated_at = clock_timestamp(),
        check_at = case when ${status} in ('REQUESTED', 'PENDING') then top_up_refund.check_at end`,
    );
  }
  for (const [disputeId, { amount, status }] of life.disputes) {
    if (known.disputes.get(disputeId)?.status === status) continue;
    await query(
      em,
      sql`insert into top_up_dispute (id, payment_id, top_up_id, amount, status)
      values (${disputeId}, ${paymentId}, ${id}, ${amount}, ${status})
      on conflict (id) do update set top_up_id = ${id}, status = ${status}, updated_at = clock_timestamp()`,
    );
  }
}

const REFUND_RANK = ['REQUESTED', 'PENDING', 'SUCCEEDED', 'FAILED'];
const DISPUTE_RANK = ['NOTICE', 'OPEN', 'LOST', 'WON'];

interface StoredFact<Status> {
  id: string;
  amount: string;
  status: Status;
}

function factsOf<Status>(rows: readonly StoredFact<Status>[]): Map<string, TakenBack<Status>> {
  return new Map(rows.map(({ id, amount, status }) => [id, { amount: BigInt(amount), status }]));
}
