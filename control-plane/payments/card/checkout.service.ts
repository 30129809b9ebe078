/** Top-ups on the processor's hosted page: begins them, opens the page, and closes it. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type Stripe from 'stripe';
import type { Micros } from '@gateway/shared/money';
import { SYSTEM_ACTOR } from '../../graphql/context.ts';
import type { Actor } from '../../graphql/context.ts';
import { UserFailure } from '../../graphql/errors.ts';
import { once } from '../../graphql/idempotency.ts';
import { inTransaction, query, queryOne, sql } from '../../database/sql.ts';
import { OPEN_TOP_UPS, TOP_UPS_PER_DAY } from '../../limits.ts';
import { ensureWallet } from '../../wallet/wallet.service.ts';
import { centsOf, checkTopUpAmount, CURRENCY } from '../amount.rules.ts';
import type { TopUpRow } from '../topup.entity.ts';
import { lockCardUse, topUpById } from '../topup.queries.ts';
import { applyNews, createTopUp } from '../topup.service.ts';
import { callProcessor, ProcessorFailure, requireCards, requireProcessor } from './processor.ts';
import type { CardProcessor, ProcessorAccess } from './processor.ts';

/**
 * Time in which the processor's page can be paid, in minutes. The processor refuses 30 or less, and a
 * repeated call must send the same time, so that a call that failed can be repeated for half an hour.
 */
const PAGE_MINUTES = 60;
/** How long after its begin a top-up is first compared with the processor, in ms. */
export const CHECK_AFTER_MS = 10 * 60_000;
const PATH = /^\/(?![/\\])[\w\-./~%]{0,200}$/;
const CONSOLE_PATH = '/wallet';

/** The settings of the installation that payments by card need. */
export interface CardSettings extends ProcessorAccess {
  /** Address of the console, to which the processor's page leads back. */
  consoleUrl: string;
}

/** A top-up by card to begin; the amount is in micro-USD. */
export interface CardTopUpInput {
  amount: Micros;
  returnPath?: string | null;
  saveCard: boolean;
  idempotencyKey: string;
}

/**
 * Begins a top-up and opens the page on which it is paid. The same idempotency key with the same input
 * returns the first top-up, and opens its page if that failed before. Throws CONFLICT (cards are not
 * offered), INVALID, LIMIT_REACHED, IDEMPOTENCY_MISMATCH and PAYMENT_PROVIDER_ERROR.
 */
export async function beginCardTopUp(
  em: EntityManager,
  { userId, actor, settings }: { userId: string; actor: Actor; settings: CardSettings },
  input: CardTopUpInput,
): Promise<{ topUp: TopUpRow; replayed: boolean }> {
  const processor = await requireCards(em, settings);
  const returnPath = checkPath(input.returnPath ?? null);
  const wanted = { amount: String(input.amount), returnPath, saveCard: input.saveCard };
  const guard = { actor: userId, mutation: 'topUpCardCreate', key: input.idempotencyKey, input: wanted };
  const walletId = await ensureWallet(em, userId);
  const { id, replayed } = await inTransaction(em, (inner) =>
    once(inner, guard, async () => {
      const use = await lockCardUse(inner, userId);
      const amount = checkTopUpAmount(input.amount, processor.settings, use.sum);
      checkNumber(use);
      const checkAt = new Date(Date.now() + CHECK_AFTER_MS);
      const { saveCard } = input;
      const { playMoney } = processor.settings;
      const draft = { walletId, method: 'CARD' as const, amount, playMoney, saveCard, returnPath, checkAt };
      return createTopUp(inner, draft);
    }),
  );
  const row = await topUpById(em, id);
  if (!row) throw new Error(`The top-up ${id} is gone.`);
  if (row.state !== 'CREATED') return { topUp: row, replayed };
  return { topUp: await openPage(em, processor, { row, actor, settings }), replayed };
}

/**
 * Opens the processor's page of a top-up in the state CREATED, or returns the one that was opened before. A
 * refusal makes the top-up FAILED. Throws PAYMENT_PROVIDER_ERROR.
 */
export async function openPage(
  em: EntityManager,
  { stripe, settings: terms }: CardProcessor,
  { row, actor, settings }: { row: TopUpRow; actor: Actor; settings: CardSettings },
): Promise<TopUpRow> {
  const customer = await customerOf(em, row.walletId);
  const parameters = sessionOf(row, { terms, customer, consoleUrl: settings.consoleUrl });
  try {
    const session = await callProcessor(em, () =>
      stripe.checkout.sessions.create(parameters, { idempotencyKey: `topup:${row.id}` }),
    );
    const isOpen = session.status !== 'expired';
    return await applyNews(em, row.id, {
      events: [{ type: 'PROGRESS', stage: isOpen ? 'AWAITING_PAYMENT' : 'EXPIRED' }],
      details: {
        sessionId: session.id,
        checkoutUrl: session.url ?? undefined,
        expiresAt: new Date(session.expires_at * 1000),
      },
      actor,
    });
  } catch (error) {
    if (error instanceof ProcessorFailure && error.refused) await failTopUp(em, row.id, error);
    throw error;
  }
}

/**
 * Closes the page of the owner's unpaid top-up. Throws NOT_FOUND, CONFLICT if it can no longer be cancelled,
 * and PAYMENT_PROVIDER_ERROR.
 */
export async function cancelTopUp(
  em: EntityManager,
  { userId, actor, settings }: { userId: string; actor: Actor; settings: CardSettings },
  id: string,
): Promise<TopUpRow> {
  const row = await topUpById(em, id);
  if (row?.userId !== userId)
    throw new UserFailure('NOT_FOUND', 'There is no such top-up. Check its id.', 'id');
  if (row.state === 'EXPIRED') return row;
  const { sessionId } = row;
  if (row.state !== 'AWAITING_PAYMENT' || !sessionId) throw tooLate();
  const { stripe } = await requireProcessor(em, settings);
  try {
    await callProcessor(em, () => stripe.checkout.sessions.expire(sessionId));
  } catch (error) {
    // It was paid or has expired meanwhile: the next check learns which.
    if (!(error instanceof ProcessorFailure) || !error.refused) throw error;
    await query(em, sql`update top_up set check_at = now() where id = ${id} and check_at is not null`);
    throw tooLate();
  }
  return applyNews(em, id, { events: [{ type: 'PROGRESS', stage: 'EXPIRED' }], actor });
}

/** Marks a top-up as failed for a refusal of the processor. */
export function failTopUp(em: EntityManager, id: string, failure: ProcessorFailure): Promise<TopUpRow> {
  return applyNews(em, id, {
    events: [{ type: 'PROGRESS', stage: 'FAILED' }],
    details: { failureCode: failure.reason, failureMessage: failure.message },
    actor: SYSTEM_ACTOR,
  });
}

interface SessionParts {
  terms: CardProcessor['settings'];
  /** The processor's customer of the wallet; null without one. */
  customer: string | null;
  consoleUrl: string;
}

/**
 * The session to create. It depends on the row and the settings alone, so that a repeated call sends the
 * same. Taxes are included in the price: the paid amount is credited.
 */
export function sessionOf(row: TopUpRow, parts: SessionParts): Stripe.Checkout.SessionCreateParams {
  const { terms, customer, consoleUrl } = parts;
  const metadata = { topup_id: row.id };
  const back = `${consoleUrl}${row.returnPath ?? CONSOLE_PATH}?topup=${row.id}`;
  return {
    mode: 'payment',
    client_reference_id: row.id,
    metadata,
    payment_intent_data: { metadata, ...(row.saveCard && { setup_future_usage: 'off_session' as const }) },
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: CURRENCY,
          unit_amount: centsOf(row.amount),
          tax_behavior: 'inclusive',
          product_data: { name: 'API credit', ...(terms.taxCode && { tax_code: terms.taxCode }) },
        },
      },
    ],
    success_url: back,
    cancel_url: `${back}&cancelled=1`,
    expires_at: Math.floor(row.createdAt.getTime() / 1000) + PAGE_MINUTES * 60,
    ...(customer ? { customer } : row.saveCard && { customer_creation: 'always' as const }),
    ...(terms.managedPayments && { managed_payments: { enabled: true } }),
    ...(terms.automaticTax && { automatic_tax: { enabled: true } }),
    ...(!terms.stablecoins && { excluded_payment_method_types: ['crypto' as const] }),
  };
}

async function customerOf(em: EntityManager, walletId: string): Promise<string | null> {
  const card = await queryOne<{ customer_id: string }>(
    em,
    sql`select customer_id from saved_card where wallet_id = ${walletId}`,
  );
  return card?.customer_id ?? null;
}

function checkNumber({ count, open }: { count: number; open: number }): void {
  if (open >= OPEN_TOP_UPS) {
    const message = `${OPEN_TOP_UPS} top-ups wait for their payment. Pay or cancel one of them first.`;
    throw new UserFailure('LIMIT_REACHED', message);
  }
  if (count < TOP_UPS_PER_DAY) return;
  const message = `${TOP_UPS_PER_DAY} top-ups were begun within 24 hours. Try again tomorrow.`;
  throw new UserFailure('LIMIT_REACHED', message);
}

function checkPath(path: string | null): string | null {
  if (path === null || PATH.test(path)) return path;
  throw new UserFailure('INVALID', 'Send a path of the console, such as /pools/new.', 'returnPath');
}

function tooLate(): UserFailure {
  return new UserFailure('CONFLICT', 'Only a top-up that awaits its payment can be cancelled. Reload it.');
}
