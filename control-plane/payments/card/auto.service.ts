/**
 * Automatic top-ups: begins an attempt when a balance falls below its threshold, and pays with the saved
 * card.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type Stripe from 'stripe';
import { SYSTEM_ACTOR } from '../../graphql/context.ts';
import { inTransaction, query, queryOne, queryRow, sql, toDate } from '../../database/sql.ts';
import { centsOf, CURRENCY } from '../amount.rules.ts';
import type { TopUpRow } from '../topup.entity.ts';
import { SAME_MONEY, topUpById } from '../topup.queries.ts';
import { lockTopUp } from '../topup.rows.ts';
import { applyNews, createTopUp } from '../topup.service.ts';
import { AUTO_FAILURES_MAX, decideAuto } from './auto.rules.ts';
import type { AutoDecision, AutoFacts } from './auto.rules.ts';
import { queueAutoMail } from './auto.mails.ts';
import { applyFacts } from './events.service.ts';
import { factsOfPayment } from './facts.ts';
import { callProcessor, ProcessorFailure } from './processor.ts';
import type { CardProcessor } from './processor.ts';
import { savedCard } from './saved-card.ts';

/** Wallets that one run looks at; the next run looks at the others. */
const WALLETS_MAX = 200;
/** How long after its begin an attempt is repeated or looked up, if its process died, in ms. */
const REPEAT_MS = 60_000;
const AUTHENTICATION = 'authentication_required';
/** Age from which an attempt is not sent again, in ms: the processor forgets idempotency keys after a day. */
const KEY_MS = 23 * 60 * 60_000;
/** Payments of one customer that are read at once; the clocks may differ by CLOCK_S, in seconds. */
const PAGE = 100;
const CLOCK_S = 300;

/** Balance of wallet `w` in micro-USD, including open leases. */
const BALANCE = sql`(
  (select coalesce(sum(a.balance), 0) from ledger_account a where a.wallet_id = w.id and a.kind = 'WALLET')
  + (select coalesce(sum(h.balance), 0) from wallet_lease l join ledger_account h on h.lease_id = l.id
    where l.wallet_id = w.id and l.state in ('ACTIVE', 'ORPHANED')))`;

/** Begins the attempts that are due now, in all wallets. */
export async function runAutoTopUps(em: EntityManager, processor: CardProcessor, now: Date): Promise<void> {
  const low = await query<{ id: string }>(
    em,
    sql`select w.id from auto_top_up s join wallet w on w.id = s.wallet_id
    where s.enabled and ${BALANCE} < s.threshold and not exists (select from top_up t
      where t.wallet_id = w.id and t.automatic and t.paid is null
        and t.stage in ('CREATED', 'AWAITING_PAYMENT'))
    order by random() limit ${WALLETS_MAX}`,
  );
  for (const { id } of low) await topUpAutomatically(em, { processor, walletId: id, now });
}

/**
 * Begins one attempt for the wallet if one is due, and makes its payment. However many calls run at once, in
 * however many processes, one attempt is in flight per wallet. Returns the decision.
 */
export async function topUpAutomatically(
  em: EntityManager,
  { processor, walletId, now }: { processor: CardProcessor; walletId: string; now: Date },
): Promise<AutoDecision> {
  const { decision, id } = await inTransaction(em, async (inner) => {
    const facts = await lockFacts(inner, walletId);
    const due = facts ? decideAuto(facts, now) : 'DISABLED';
    if (due === 'OFF') await switchOff(inner, walletId);
    if (due !== 'BEGIN' || !facts) return { decision: due, id: null };
    const checkAt = new Date(now.getTime() + REPEAT_MS);
    const { playMoney } = processor.settings;
    const { amount } = facts;
    const draft = { walletId, method: 'CARD' as const, amount, playMoney, automatic: true, checkAt };
    return { decision: due, id: await createTopUp(inner, draft) };
  });
  const row = id ? await topUpById(em, id) : null;
  if (row) await chargeSavedCard(em, processor, row).catch(keepForRepetition);
  return decision;
}

/**
 * Learns the result of an attempt that had no answer, or makes its payment if the processor has none and
 * still knows the idempotency key. Throws ProcessorFailure if the processor does not answer.
 */
export async function repeatAttempt(
  em: EntityManager,
  processor: CardProcessor,
  { row, now }: { row: TopUpRow; now: Date },
): Promise<void> {
  const made = await madePayment(em, processor, row);
  if (made && !UNPAID.has(made.status)) await learn(em, row, made);
  else if (now.getTime() - row.createdAt.getTime() < KEY_MS) await chargeSavedCard(em, processor, row);
  else await failAutomatic(em, row, null);
}

/** States of a payment that never becomes paid without the customer. */
export const UNPAID: ReadonlySet<Stripe.PaymentIntent.Status> = new Set([
  'requires_payment_method',
  'canceled',
]);

/** The payment that the processor made for the attempt; undefined without one, or without a saved card. */
async function madePayment(
  em: EntityManager,
  { stripe }: CardProcessor,
  row: TopUpRow,
): Promise<Stripe.PaymentIntent | undefined> {
  const card = await savedCard(em, row.walletId);
  if (!card) return undefined;
  const created = { gte: Math.floor(row.createdAt.getTime() / 1000) - CLOCK_S };
  const which = { customer: card.customerId, created, limit: PAGE, expand: ['data.latest_charge'] };
  const { data } = await callProcessor(em, () => stripe.paymentIntents.list(which));
  return data.find(({ metadata }) => metadata['topup_id'] === row.id);
}

/**
 * Makes the payment of an automatic top-up. A refusal makes the top-up FAILED. Throws ProcessorFailure if the
 * processor does not answer.
 */
async function chargeSavedCard(em: EntityManager, { stripe }: CardProcessor, row: TopUpRow): Promise<void> {
  const card = await savedCard(em, row.walletId);
  if (!card) return failAutomatic(em, row, null);
  const parameters = {
    amount: centsOf(row.amount),
    currency: CURRENCY,
    customer: card.customerId,
    payment_method: card.methodId,
    off_session: true,
    confirm: true,
    error_on_requires_action: true,
    metadata: { topup_id: row.id, automatic: '1' },
    expand: ['latest_charge'],
  };
  try {
    const payment = await callProcessor(em, () =>
      stripe.paymentIntents.create(parameters, { idempotencyKey: `topup:${row.id}` }),
    );
    await learn(em, row, payment);
  } catch (error) {
    if (!(error instanceof ProcessorFailure) || !error.refused) throw error;
    await failAutomatic(em, row, error);
  }
}

async function learn(em: EntityManager, { id }: TopUpRow, payment: Stripe.PaymentIntent): Promise<void> {
  const facts = factsOfPayment({ ...payment });
  if (facts.events.length === 0) facts.events.push({ type: 'PROGRESS', stage: 'AWAITING_PAYMENT' });
  await applyFacts(em, { ...facts, topUpId: id }, SYSTEM_ACTOR);
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
        failureCode: failure?.reason ?? 'no_card',
        failureMessage: needsOwner
          ? 'The bank wants you to confirm the payment. Add funds on the wallet page.'
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

/**
 * Facts for the decision about a wallet; null without settings. Locks the settings until the transaction
 * ends.
 */
export async function lockFacts(em: EntityManager, walletId: string): Promise<AutoFacts | null> {
  const settings = await queryOne<SettingsRow>(
    em,
    sql`select s.enabled, s.threshold::text, s.amount::text, s.monthly_cap::text,
      s.changed_at, u.state = 'ACTIVE' as active
    from auto_top_up s join wallet w on w.id = s.wallet_id join users u on u.id = w.user_id
    where s.wallet_id = ${walletId} for update of s`,
  );
  if (!settings) return null;
  // Attempts are read before the balance: one that is credited between both statements still counts as in
  // flight. In the other order the balance would lack it, and the card would be charged again.
  const past = await pastAttempts(em, walletId, toDate(settings.changed_at));
  const { balance } = await queryRow<{ balance: string }>(
    em,
    sql`select ${BALANCE}::text as balance from wallet w where w.id = ${walletId}`,
  );
  return {
    enabled: settings.enabled,
    balance: BigInt(balance),
    threshold: BigInt(settings.threshold),
    amount: BigInt(settings.amount),
    monthlyCap: BigInt(settings.monthly_cap),
    ...past,
    hasCard: (await savedCard(em, walletId)) !== null,
    isActive: settings.active,
  };
}

interface SettingsRow {
  enabled: boolean;
  threshold: string;
  amount: string;
  monthly_cap: string;
  changed_at: string;
  active: boolean;
}

/**
 * Attempts of the wallet: their sum in this month (UTC), failures in a row since `since`, and one in flight.
 */
async function pastAttempts(
  em: EntityManager,
  walletId: string,
  since: Date,
): Promise<Pick<AutoFacts, 'spentThisMonth' | 'failures' | 'failedAt' | 'inFlight'>> {
  const row = await queryRow<{ spent: string; failures: number; failed_at: string | null; open: boolean }>(
    em,
    sql`with attempt as (select * from top_up where wallet_id = ${walletId} and automatic and ${SAME_MONEY}),
      success as (select max(created_at) as at from attempt where paid is not null)
    select coalesce(sum(amount) filter (where (paid is not null or stage not in ('FAILED', 'EXPIRED'))
        and created_at >= date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'), 0)::text
        as spent,
      (count(*) filter (where stage = 'FAILED' and paid is null and created_at > ${since}
        and created_at > coalesce((select at from success), '-infinity')))::integer as failures,
      max(updated_at) filter (where stage = 'FAILED' and paid is null and created_at > ${since}) as failed_at,
      coalesce(bool_or(stage in ('CREATED', 'AWAITING_PAYMENT') and paid is null), false) as open
    from attempt`,
  );
  return {
    spentThisMonth: BigInt(row.spent),
    failures: row.failures,
    failedAt: row.failed_at === null ? null : toDate(row.failed_at),
    inFlight: row.open,
  };
}

async function switchOff(em: EntityManager, walletId: string): Promise<void> {
  const off = await queryOne(
    em,
    sql`update auto_top_up set enabled = false, off_reason = 'FAILURES'
    where wallet_id = ${walletId} and enabled
    returning wallet_id`,
  );
  if (off) await queueAutoMail(em, walletId, { notice: 'OFF', amount: 0n });
}

/** The comparison with the processor repeats an attempt that had no answer, with the same idempotency key. */
function keepForRepetition(error: unknown): void {
  if (!(error instanceof ProcessorFailure)) throw error;
}
