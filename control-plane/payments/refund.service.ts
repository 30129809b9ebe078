/** Refunds of payments by card by administrators: debits the wallet first, then asks the processor. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import { audit } from '../audit/audit.service.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { once } from '../graphql/idempotency.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { centsOf, checkCents } from './amount.rules.ts';
import { callProcessor, ProcessorFailure, requireProcessor } from './card/processor.ts';
import type { CardProcessor, ProcessorAccess } from './card/processor.ts';
import { refundStatusOf } from './card/facts.ts';
import { requireSameMoney } from './play.money.ts';
import type { TopUpRow } from './topup.entity.ts';
import { topUpById } from './topup.queries.ts';
import type { RefundStatus } from './topup.rules.ts';
import { lockTopUp } from './topup.rows.ts';
import { applyNews } from './topup.service.ts';

/** How long a refund that the processor did not confirm waits before it is sent again, in ms. */
const REPEAT_MS = 60_000;
/** Refunds of one payment that are read at once. */
const PAGE = 100;

/** A refund to make; the amount is in micro-USD. */
export interface RefundInput {
  topUpId: string;
  amount: Micros;
  reason: string;
  idempotencyKey: string;
}

/** The administrator who refunds, and the settings of the installation. */
export interface RefundBy {
  /** Id of the administrator, who has separate idempotency keys. */
  userId: string;
  actor: Actor;
  settings: ProcessorAccess;
}

/** A refund that the processor has not confirmed yet. */
interface OpenRefund {
  id: string;
  topUpId: string;
  paymentId: string;
  amount: Micros;
}

/**
 * Refunds a part or all of a payment by card. The wallet is debited at once; if the processor refuses, the
 * amount is returned. If it does not answer, a job asks again with the same idempotency key. Throws
 * NOT_FOUND, CONFLICT (no paid card top-up), INVALID, REQUIRED, INSUFFICIENT_BALANCE (the cash is not free),
 * IDEMPOTENCY_MISMATCH and PAYMENT_PROVIDER_ERROR (refused).
 */
export async function refundTopUp(
  em: EntityManager,
  { userId, actor, settings }: RefundBy,
  input: RefundInput,
): Promise<{ topUp: TopUpRow; replayed: boolean }> {
  const { topUpId, reason, idempotencyKey } = input;
  const amount = checkCents(input.amount, 'amount');
  const processor = await requireProcessor(em, settings);
  const wanted = { topUpId, amount: String(amount), reason };
  const guard = { actor: userId, mutation: 'adminTopUpRefund', key: idempotencyKey, input: wanted };
  const { id, replayed } = await inTransaction(em, (inner) =>
    once(inner, guard, () => request(inner, { topUpId, amount, reason, actor })),
  );
  const open = await openRefund(em, id);
  if (open) await send(em, processor, open);
  const topUp = await topUpById(em, topUpId);
  if (!topUp) throw new Error(`The top-up ${topUpId} is gone.`);
  return { topUp, replayed };
}

/**
 * Sends refunds again that the processor has not confirmed; at most 100. Returns their number. The processor
 * is asked first whether it has the refund: it forgets an idempotency key after a day.
 */
export async function repeatRefunds(em: EntityManager, processor: CardProcessor, now: Date): Promise<number> {
  const due = await query<{ id: string }>(
    em,
    sql`update top_up_refund set check_at = ${new Date(now.getTime() + REPEAT_MS)} where id in (
      select id from top_up_refund where check_at <= ${now} and status = 'REQUESTED'
      order by check_at limit 100 for update skip locked) returning id`,
  );
  for (const { id } of due) {
    const open = await openRefund(em, id);
    if (open) await sendAgain(em, processor, open).catch(ignoreFailure);
  }
  return due.length;
}

async function request(
  em: EntityManager,
  { topUpId, amount, reason, actor }: Omit<RefundInput, 'idempotencyKey'> & { actor: Actor },
): Promise<string> {
  const row = await lockTopUp(em, topUpId);
  if (!row) throw new UserFailure('NOT_FOUND', 'There is no such top-up. Check its id.', 'topUpId');
  // A deposit has no payment of the processor.
  if (row.credited === 0n || !row.paymentId) {
    const message = 'Only a credited payment by card can be refunded here. Adjust the wallet instead.';
    throw new UserFailure('CONFLICT', message, 'topUpId');
  }
  await requireSameMoney(em, row.playMoney);
  const left = row.credited - row.refunded;
  if (amount > left) {
    const message = `At most $${formatDollars(left)} of this top-up is left to refund.`;
    throw new UserFailure('INVALID', message, 'amount');
  }
  const id = newId('rfn');
  const after = { amount: formatDollars(amount), refund: id };
  await audit(em, { actor, action: 'topUp.refund', targetType: 'TopUp', targetId: topUpId, after, reason });
  await applyNews(em, topUpId, {
    events: [{ type: 'REFUND', id, amount, status: 'REQUESTED' }],
    actor,
    refunds: 'RETURN',
  });
  await query(
    em,
    sql`update top_up_refund set reason = ${reason.trim()}, requested_by = ${actor.id},
      check_at = clock_timestamp() + ${REPEAT_MS} * interval '1 ms' where id = ${id}`,
  );
  return id;
}

async function sendAgain(em: EntityManager, processor: CardProcessor, refund: OpenRefund): Promise<void> {
  const { id, topUpId, paymentId } = refund;
  const which = { payment_intent: paymentId, limit: PAGE };
  const own = await callProcessor(em, async () => {
    for await (const refund of processor.stripe.refunds.list(which))
      if (refund.metadata?.['refund_id'] === id) return refund;
    return undefined;
  });
  if (own) await learn(em, topUpId, { ...refund, status: refundStatusOf(own.status) });
  else await send(em, processor, refund);
}

async function send(em: EntityManager, { stripe }: CardProcessor, refund: OpenRefund): Promise<void> {
  const { id, topUpId, paymentId, amount } = refund;
  const metadata = { refund_id: id, topup_id: topUpId };
  try {
    const sent = await callProcessor(em, () =>
      stripe.refunds.create(
        { payment_intent: paymentId, amount: centsOf(amount), metadata },
        { idempotencyKey: `refund:${id}` },
      ),
    );
    await learn(em, topUpId, { id, amount, status: refundStatusOf(sent.status) });
  } catch (error) {
    if (!(error instanceof ProcessorFailure) || !error.refused) return ignoreFailure(error);
    await learn(em, topUpId, { id, amount, status: 'FAILED' });
    await query(em, sql`update top_up_refund set failure_message = ${error.reason} where id = ${id}`);
    throw error;
  }
}

async function learn(
  em: EntityManager,
  topUpId: string,
  { id, amount, status }: { id: string; amount: Micros; status: RefundStatus },
): Promise<void> {
  await applyNews(em, topUpId, { events: [{ type: 'REFUND', id, amount, status }], actor: SYSTEM_ACTOR });
}

/** The refund if the processor has not confirmed it yet. */
async function openRefund(em: EntityManager, id: string): Promise<OpenRefund | null> {
  const row = await queryOne<{ top_up_id: string; payment_id: string; amount: string }>(
    em,
    sql`select r.top_up_id, t.payment_id, r.amount::text
    from top_up_refund r join top_up t on t.id = r.top_up_id
    where r.id = ${id} and r.status = 'REQUESTED'`,
  );
  if (!row) return null;
  return { id, topUpId: row.top_up_id, paymentId: row.payment_id, amount: BigInt(row.amount) };
}

/** A failure of the processor is repeated by the job. Rethrows other errors. */
function ignoreFailure(error: unknown): void {
  if (!(error instanceof ProcessorFailure)) throw error;
}
