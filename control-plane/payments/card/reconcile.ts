/**
 * Compares top-ups with the processor, in case its events were lost: open ones every ten minutes, and all
 * movements of its balance every day. Differences are corrected and reported.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type Stripe from 'stripe';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import { SYSTEM_ACTOR } from '../../graphql/context.ts';
import { newId } from '../../database/ids.ts';
import { inTransaction, query, queryOne, sql } from '../../database/sql.ts';
import { corrections } from '../payment.metrics.ts';
import type { TopUpIssue, TopUpRow } from '../topup.entity.ts';
import { SAME_MONEY, topUpById } from '../topup.queries.ts';
import { lifeOf, lockPayment } from '../topup.rows.ts';
import { contributionOf } from '../topup.rules.ts';
import type { TopUpState } from '../topup.rules.ts';
import { applyNews } from '../topup.service.ts';
import { failAutomatic, repeatAttempt, UNPAID } from './auto.payment.ts';
import { CHECK_AFTER_MS, openPage } from './checkout.service.ts';
import type { CardSettings } from './checkout.service.ts';
import { applyFacts } from './events.service.ts';
import { factsOfBalance, factsOfDispute, factsOfPayment, factsOfRefund, factsOfSession } from './facts.ts';
import type { ProcessorFacts } from './facts.ts';
import { callProcessor, ProcessorFailure } from './processor.ts';
import type { CardProcessor } from './processor.ts';
import { saveCardOf } from './saved-card.ts';

/** Top-ups that one run compares; the next run takes the others. */
const CHECKED_MAX = 50;
const DAY_MS = 24 * 60 * 60_000;
/**
 * The daily comparison begins this long before the end of the last one, for what the processor books late.
 */
const OVERLAP_MS = 2 * DAY_MS;
/** How late an event may credit its payment, in ms: the processor repeats events for three days. */
const LATE_MS = 3 * DAY_MS;
/** Refunds or disputes of one payment that are read at once. */
const PAGE = 100;
/** Refunds or disputes of one payment that are read in all: more than a payment has. */
const LISTED_MAX = 10_000;

/** Dependencies of a comparison. */
export interface ReconcileParts {
  processor: CardProcessor;
  settings: CardSettings;
  now: Date;
  log?: ((line: Record<string, unknown>) => void) | undefined;
}

/**
 * Compares the top-ups that are due with the processor: open ones ten minutes after the last comparison.
 * Several processes at once compare different ones. Returns the number of compared top-ups. A top-up that
 * cannot be compared does not stop the others; its error is thrown after them.
 */
export async function compareTopUps(em: EntityManager, parts: ReconcileParts): Promise<number> {
  const { now } = parts;
  const due = await query<{ id: string }>(
    em,
    sql`update top_up set check_at = ${nextCheck(now)} where id in (
      select id from top_up where check_at <= ${now} and method = 'CARD' and ${SAME_MONEY}
      order by check_at limit ${CHECKED_MAX} for update skip locked) returning id`,
  );
  const failures: unknown[] = [];
  for (const { id } of due) await compareOne(em, id, parts).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
  await query(em, sql`update payment_settings set reconciled_at = ${now}`);
  return due.length;
}

/**
 * Compares all movements of the processor's balance since the last comparison, if a day has passed. Returns
 * whether it did. Throws ProcessorFailure, and after all movements the error of one that cannot be booked.
 */
export async function compareBalance(em: EntityManager, parts: ReconcileParts): Promise<boolean> {
  const { now, processor } = parts;
  const { balanceCheckedTo } = processor.settings;
  if (balanceCheckedTo && now.getTime() - balanceCheckedTo.getTime() < DAY_MS) return false;
  const from = new Date((balanceCheckedTo ?? now).getTime() - OVERLAP_MS);
  const seen = new Set<string>();
  const failures: unknown[] = [];
  await callProcessor(em, async () => {
    const created = { gte: Math.floor((from.getTime() - LATE_MS) / 1000) };
    const pages = processor.stripe.balanceTransactions.list({
      created,
      limit: PAGE,
      expand: ['data.source'],
    });
    for await (const { source } of pages) {
      const facts = factsOfBalance(source);
      if (facts?.paymentId) seen.add(facts.paymentId);
      // An error of this program is no failure of the processor's call.
      if (facts) await correct(em, facts, parts).catch((error: unknown) => failures.push(error));
    }
  });
  if (failures.length > 0) throw failures[0];
  await markMissing(em, { from, to: new Date(now.getTime() - DAY_MS), seen: [...seen] });
  await query(em, sql`update payment_settings set balance_checked_to = ${now}`);
  return true;
}

async function compareOne(em: EntityManager, id: string, parts: ReconcileParts): Promise<void> {
  const row = await topUpById(em, id);
  if (!row) return;
  try {
    const changed = await ask(em, row, parts);
    if (!changed) await endCheck(em, id, parts);
    if (row.issue === 'PROCESSOR_UNREACHABLE') await setIssue(em, id, null);
  } catch (error) {
    if (!(error instanceof ProcessorFailure)) throw error;
    if (error.isDecision) await endCheck(em, id, parts);
    // A page that the processor refused to open made the top-up FAILED, which needs no administrator.
    const isOver = (await topUpById(em, id))?.state === 'FAILED';
    if (row.issue || isOver) return;
    await setIssue(em, id, error.isDecision ? 'NOT_AT_PROCESSOR' : 'PROCESSOR_UNREACHABLE');
  }
}

/** Asks the processor for everything that it knows of the top-up. Returns whether it was begun only now. */
async function ask(em: EntityManager, row: TopUpRow, parts: ReconcileParts): Promise<boolean> {
  const { stripe } = parts.processor;
  const { sessionId, automatic } = row;
  if (automatic && !row.paymentId) {
    await repeatAttempt(em, parts.processor, { row, now: parts.now });
    return true;
  }
  if (!automatic && !sessionId) {
    await openPage(em, parts.processor, { row, actor: SYSTEM_ACTOR, settings: parts.settings });
    return true;
  }
  if (sessionId) {
    const session = await callProcessor(em, () => stripe.checkout.sessions.retrieve(sessionId));
    await correct(em, factsOfSession(plain(session)), parts);
  }
  const paymentId = row.paymentId ?? (await topUpById(em, row.id))?.paymentId;
  if (paymentId) await askForPayment(em, { row, paymentId }, parts);
  return false;
}

async function askForPayment(
  em: EntityManager,
  { row, paymentId }: { row: TopUpRow; paymentId: string },
  parts: ReconcileParts,
): Promise<void> {
  const { stripe } = parts.processor;
  const expand = ['latest_charge', 'payment_method'];
  const payment = await callProcessor(em, () => stripe.paymentIntents.retrieve(paymentId, { expand }));
  await correct(em, factsOfPayment(plain(payment)), parts);
  if (row.automatic && UNPAID.has(payment.status)) await failAutomatic(em, row, null);
  await saveCardOf(em, row, payment);
  const which = { payment_intent: paymentId, limit: PAGE };
  const all = { limit: LISTED_MAX };
  const refunds = await callProcessor(em, () => stripe.refunds.list(which).autoPagingToArray(all));
  for (const refund of refunds) await correct(em, factsOfRefund(plain(refund)), parts);
  const disputes = await callProcessor(em, () => stripe.disputes.list(which).autoPagingToArray(all));
  for (const dispute of disputes) await correct(em, factsOfDispute(plain(dispute)), parts);
}

/** Applies facts, and reports it if money moved by them. */
async function correct(em: EntityManager, facts: ProcessorFacts, { log }: ReconcileParts): Promise<void> {
  const moved = await inTransaction(em, async (inner) => {
    // An event that is applied meanwhile would look like a correction.
    if (facts.paymentId) await lockPayment(inner, facts.paymentId);
    const before = await standingOf(inner, facts);
    await applyFacts(inner, facts, SYSTEM_ACTOR);
    const { topUpId, state, contribution } = await standingOf(inner, facts);
    const amount = contribution - before.contribution;
    if (amount === 0n) return null;
    const detail = `${formatDollars(amount)} US dollars that no event had reported; now ${state}.`;
    await query(
      inner,
      sql`insert into payment_correction (id, top_up_id, kind, detail, amount, state)
      values (${newId('fix')}, ${topUpId}, 'MISSED_EVENT', ${detail}, ${amount}, ${state})`,
    );
    return { topUpId, detail };
  });
  if (!moved) return;
  corrections.inc({ kind: 'missed_event' });
  const message = 'The comparison with the card processor corrected a top-up. Check its webhook.';
  log?.({ level: 'warn', message, ...moved });
}

/** The top-up that the facts name, its state, and its contribution to its wallet in micro-USD. */
interface Standing {
  topUpId: string | null;
  state: TopUpState | null;
  contribution: Micros;
}

/** The present standing; nulls and 0 if no top-up is known. */
async function standingOf(em: EntityManager, { topUpId, paymentId }: ProcessorFacts): Promise<Standing> {
  const found = await queryOne<{ id: string }>(
    em,
    sql`select id from top_up where payment_id = ${paymentId} or id = ${topUpId}
      order by payment_id = ${paymentId} desc nulls last limit 1`,
  );
  const row = found ? await topUpById(em, found.id) : null;
  if (!row) return { topUpId: null, state: null, contribution: 0n };
  return { topUpId: row.id, state: row.state, contribution: contributionOf(await lifeOf(em, row)) };
}

/** Marks credited top-ups of the time whose payments the processor does not have. */
async function markMissing(
  em: EntityManager,
  { from, to, seen }: { from: Date; to: Date; seen: readonly string[] },
): Promise<void> {
  await query(
    em,
    sql`update top_up set issue = 'NOT_AT_PROCESSOR' from ledger_transaction l
    where l.reference = 'topup:' || top_up.id || ':credit' and l.at between ${from} and ${to}
      and top_up.method = 'CARD' and not top_up.play_money and top_up.issue is null
      and top_up.payment_id <> all(${[...seen]}::text[])`,
  );
}

/**
 * Ends the comparisons of a top-up that is not open any more, unless an event made it due again meanwhile:
 * the processor may have answered before what the event says.
 */
async function endCheck(em: EntityManager, id: string, { now }: ReconcileParts): Promise<void> {
  await query(
    em,
    sql`update top_up set check_at = null where id = ${id} and state not in ('CREATED', 'AWAITING_PAYMENT')
      and check_at = ${nextCheck(now)}`,
  );
}

/** When an open top-up is compared again. */
function nextCheck(now: Date): Date {
  return new Date(now.getTime() + CHECK_AFTER_MS);
}

async function setIssue(em: EntityManager, id: string, issue: TopUpIssue | null): Promise<void> {
  await applyNews(em, id, { events: [], details: { issue }, actor: SYSTEM_ACTOR });
}

/** The members of an object of the processor, without its type: facts.ts trusts none of them. */
function plain(
  object: Stripe.Checkout.Session | Stripe.PaymentIntent | Stripe.Refund | Stripe.Dispute,
): Readonly<Record<string, unknown>> {
  return { ...object };
}
