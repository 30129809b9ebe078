/**
 * The payment of one automatic top-up. Its parameters are fixed when the attempt begins, and one idempotency
 * key belongs to it: whatever happens to answers, cards and processes, the card is charged at most once.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type Stripe from 'stripe';
import { SYSTEM_ACTOR } from '../../graphql/context.ts';
import { inTransaction, queryOne, sql } from '../../database/sql.ts';
import { centsOf, CURRENCY } from '../amount.rules.ts';
import { offersCard } from '../settings.service.ts';
import type { TopUpRow } from '../topup.entity.ts';
import { AUTHENTICATION } from '../topup.failure.ts';
import { lockTopUp } from '../topup.rows.ts';
import { applyNews } from '../topup.service.ts';
import { lockFacts, switchOff } from './auto.facts.ts';
import { queueAutoMail } from './auto.mails.ts';
import { AUTO_FAILURES_MAX } from './auto.rules.ts';
import { applyFacts } from './events.service.ts';
import { factsOfPayment } from './facts.ts';
import { callProcessor, ProcessorFailure } from './processor.ts';
import type { CardProcessor } from './processor.ts';

/** Age from which an attempt is not sent again, in ms: the processor forgets idempotency keys after a day. */
const KEY_MS = 23 * 60 * 60_000;
/** Payments of one customer that are read at once; the clocks may differ by CLOCK_S, in seconds. */
const PAGE = 100;
const CLOCK_S = 300;

/**
 * Without this the processor asks for a `return_url`, to which nobody would return:
 * https://docs.stripe.com/api/payment_intents/create.
 */
const WITHOUT_REDIRECTS = { enabled: true, allow_redirects: 'never' as const };

/** States of a payment that never becomes paid without the customer. */
export const UNPAID: ReadonlySet<Stripe.PaymentIntent.Status> = new Set([
  'requires_payment_method',
  'canceled',
]);

/** Reasons for which an attempt ends without a charge, and what the owner reads. */
const ENDINGS = {
  withdrawn: 'The card or the settings changed before the payment was made. Nothing was charged.',
  no_answer: 'The card processor did not answer for a day. Nothing was charged.',
};

/**
 * Learns the result of an attempt that had no answer, or asks for its payment again. Throws ProcessorFailure
 * if the processor does not answer.
 */
export async function repeatAttempt(
  em: EntityManager,
  processor: CardProcessor,
  { row, now }: { row: TopUpRow; now: Date },
): Promise<void> {
  const made = await madePayment(em, processor, row);
  if (made && !UNPAID.has(made.status)) return learn(em, row, made);
  if (now.getTime() - row.createdAt.getTime() < KEY_MS) return payAttempt(em, processor, row);
  if (made) await failAutomatic(em, row, null);
  else await endAttempt(em, row, 'no_answer');
}

/**
 * Charges the card of the attempt; if the owner does not want that any more, ends the attempt. Either call
 * takes the same idempotency key, so that only one of them is ever executed: if the other one has taken the
 * key before, it returns its stored answer. Throws ProcessorFailure if the processor decides neither.
 */
export async function payAttempt(em: EntityManager, processor: CardProcessor, row: TopUpRow): Promise<void> {
  const [first, second] = (await isWanted(em, processor, row)) ? [charge, withdraw] : [withdraw, charge];
  try {
    await first(em, processor, row);
  } catch (error) {
    if (!(error instanceof ProcessorFailure) || !error.isKeyTaken) throw error;
    await second(em, processor, row);
  }
}

/** Whether the card may still be charged: it is the saved one, and owner and operator want it. */
async function isWanted(em: EntityManager, { settings }: CardProcessor, row: TopUpRow): Promise<boolean> {
  if (!offersCard(settings) || settings.managedPayments) return false;
  const wanted = await queryOne(
    em,
    sql`select s.wallet_id from auto_top_up s join saved_card c on c.wallet_id = s.wallet_id
      join users u on u.id = ${row.userId}
    where s.wallet_id = ${row.walletId} and s.enabled and u.state = 'ACTIVE'
      and c.method_id = ${row.cardMethodId}`,
  );
  return wanted !== undefined;
}

/**
 * The payment that the processor made for the attempt, rather a paid one than an unpaid one; undefined
 * without one.
 */
async function madePayment(
  em: EntityManager,
  { stripe }: CardProcessor,
  row: TopUpRow,
): Promise<Stripe.PaymentIntent | undefined> {
  const created = { gte: Math.floor(row.createdAt.getTime() / 1000) - CLOCK_S };
  const which = { customer: cardOf(row).customerId, created, limit: PAGE, expand: ['data.latest_charge'] };
  return callProcessor(em, async () => {
    let unpaid: Stripe.PaymentIntent | undefined;
    for await (const payment of stripe.paymentIntents.list(which)) {
      if (payment.metadata['topup_id'] !== row.id) continue;
      if (!UNPAID.has(payment.status)) return payment;
      unpaid ??= payment;
    }
    return unpaid;
  });
}

/**
 * Makes the payment with the card of the attempt. A refusal makes the top-up FAILED. Throws ProcessorFailure
 * if the processor has not decided.
 */
async function charge(em: EntityManager, processor: CardProcessor, row: TopUpRow): Promise<void> {
  const { customerId: customer, methodId } = cardOf(row);
  const parameters = {
    amount: centsOf(row.amount),
    currency: CURRENCY,
    customer,
    payment_method: methodId,
    off_session: true,
    confirm: true,
    error_on_requires_action: true,
    automatic_payment_methods: WITHOUT_REDIRECTS,
    metadata: { topup_id: row.id, automatic: '1' },
    expand: ['latest_charge'],
  };
  try {
    await learn(em, row, await create(em, processor, { row, parameters }));
  } catch (error) {
    if (!(error instanceof ProcessorFailure) || !error.isDecision) throw error;
    await failAutomatic(em, row, error);
  }
}

/**
 * Takes the idempotency key for a payment without a card, which nobody can pay: a call that charges the card
 * and is still on its way is refused. Then ends the attempt. Throws ProcessorFailure.
 */
async function withdraw(em: EntityManager, processor: CardProcessor, row: TopUpRow): Promise<void> {
  const { customerId: customer } = cardOf(row);
  const parameters = {
    amount: centsOf(row.amount),
    currency: CURRENCY,
    customer,
    metadata: { topup_id: row.id, automatic: '1' },
  };
  try {
    await create(em, processor, { row, parameters });
  } catch (error) {
    // If the customer is gone, the card cannot be charged either.
    if (!(error instanceof ProcessorFailure) || !error.isDecision) throw error;
  }
  await endAttempt(em, row, 'withdrawn');
}

function create(
  em: EntityManager,
  { stripe }: CardProcessor,
  { row, parameters }: { row: TopUpRow; parameters: Stripe.PaymentIntentCreateParams },
): Promise<Stripe.PaymentIntent> {
  const options = { idempotencyKey: `topup:${row.id}` };
  return callProcessor(em, () => stripe.paymentIntents.create(parameters, options));
}

/** The card with which the attempt began. */
function cardOf({ id, cardCustomerId, cardMethodId }: TopUpRow): { customerId: string; methodId: string } {
  if (cardCustomerId && cardMethodId) return { customerId: cardCustomerId, methodId: cardMethodId };
  throw new Error(`The automatic top-up ${id} has no card.`);
}

async function learn(em: EntityManager, { id }: TopUpRow, payment: Stripe.PaymentIntent): Promise<void> {
  const facts = factsOfPayment({ ...payment });
  if (facts.events.length === 0) facts.events.push({ type: 'PROGRESS', stage: 'AWAITING_PAYMENT' });
  await applyFacts(em, { ...facts, topUpId: id }, SYSTEM_ACTOR);
}

/** Ends an open attempt that charged nothing. It counts as no failure, and is not mailed. */
async function endAttempt(em: EntityManager, { id }: TopUpRow, code: keyof typeof ENDINGS): Promise<void> {
  await inTransaction(em, async (inner) => {
    const row = await lockTopUp(inner, id);
    if (!row || row.stage === 'FAILED' || row.paid !== null) return;
    await applyNews(inner, id, {
      events: [{ type: 'PROGRESS', stage: 'EXPIRED' }],
      details: { failureCode: code, failureMessage: ENDINGS[code] },
      actor: SYSTEM_ACTOR,
    });
  });
}

/** Marks an attempt as failed, mails the owner once, and switches off after too many failures in a row. */
export async function failAutomatic(
  em: EntityManager,
  { id, walletId }: TopUpRow,
  failure: ProcessorFailure | null,
): Promise<void> {
  await inTransaction(em, async (inner) => {
    const row = await lockTopUp(inner, id);
    if (!row || row.stage === 'FAILED' || row.paid !== null) return;
    const needsOwner = failure?.processorCode === AUTHENTICATION;
    await applyNews(inner, id, {
      events: [{ type: 'PROGRESS', stage: 'FAILED' }],
      details: {
        failureCode: failure?.reason ?? 'not_paid',
        failureMessage: needsOwner
          ? 'The bank wants you to confirm the payment. Add credit on the wallet page.'
          : 'The saved card was refused. Pay with another card on the wallet page, and save it.',
      },
      actor: SYSTEM_ACTOR,
    });
    await queueAutoMail(inner, walletId, {
      notice: needsOwner ? 'AUTHENTICATION' : 'FAILED',
      amount: row.amount,
    });
    const facts = await lockFacts(inner, walletId);
    if (facts && facts.failures >= AUTO_FAILURES_MAX) await switchOff(inner, walletId);
  });
}
