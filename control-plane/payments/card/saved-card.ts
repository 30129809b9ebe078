/**
 * The card that the processor keeps for automatic top-ups of a wallet. Only what is shown of it is stored.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type Stripe from 'stripe';
import { inTransaction, query, queryOne, sql } from '../../database/sql.ts';
import { holdPlayMoney } from '../play.money.ts';
import type { TopUpRow } from '../topup.entity.ts';
import { endForgotten, forgottenCards, noteReplacedCard } from './forgotten-card.ts';
import { callProcessor, ProcessorFailure } from './processor.ts';
import type { CardProcessor } from './processor.ts';

/** A saved card: the processor's ids, and what is shown. */
export interface SavedCard {
  customerId: string;
  methodId: string;
  brand: string;
  last4: string;
  expiresMonth: number;
  expiresYear: number;
}

/** The saved card of the wallet; null without one. */
export async function savedCard(em: EntityManager, walletId: string): Promise<SavedCard | null> {
  const card = await queryOne<SavedCard>(
    em,
    sql`select customer_id as "customerId", method_id as "methodId", brand, last4,
      expires_month as "expiresMonth", expires_year as "expiresYear"
    from saved_card where wallet_id = ${walletId}`,
  );
  return card ?? null;
}

/**
 * Stores the card of a successful payment if that was begun to save it, once per top-up: a later comparison
 * must not bring back a card that was removed or replaced. Stores nothing if it was not paid by card, or in a
 * demo that has ended.
 */
export async function saveCardOf(
  em: EntityManager,
  { id, walletId, playMoney }: TopUpRow,
  { status, customer, payment_method: method }: Stripe.PaymentIntent,
): Promise<void> {
  const customerId = typeof customer === 'string' ? customer : customer?.id;
  if (status !== 'succeeded' || !customerId || typeof method !== 'object' || !method?.card) return;
  const { brand, last4, exp_month: month, exp_year: year } = method.card;
  await inTransaction(em, async (inner) => {
    if ((await holdPlayMoney(inner)) !== playMoney) return;
    const isFirst = await queryOne(
      inner,
      sql`update top_up set save_card = false where id = ${id} and save_card returning id`,
    );
    if (!isFirst) return;
    await noteReplacedCard(inner, walletId, method.id);
    await query(
      inner,
      sql`insert into saved_card
        (wallet_id, customer_id, method_id, brand, last4, expires_month, expires_year)
    values (${walletId}, ${customerId}, ${method.id}, ${brand}, ${last4}, ${month}, ${year})
    on conflict (wallet_id) do update set customer_id = excluded.customer_id, method_id = excluded.method_id,
      brand = excluded.brand, last4 = excluded.last4, expires_month = excluded.expires_month,
      expires_year = excluded.expires_year, created_at = clock_timestamp()`,
    );
  });
}

/** Job: removes forgotten cards at the processor. */
export async function detachCards(em: EntityManager, processor: CardProcessor): Promise<void> {
  for (const methodId of await forgottenCards(em)) await detachCard(em, processor, methodId);
}

/**
 * Removes a forgotten card at the processor; if it does not answer, the job does it later. A card that the
 * processor does not know, or that belongs to no customer there, is removed already.
 */
export async function detachCard(
  em: EntityManager,
  { stripe }: CardProcessor,
  methodId: string,
): Promise<void> {
  try {
    await callProcessor(em, () => stripe.paymentMethods.detach(methodId));
  } catch (error) {
    if (!(error instanceof ProcessorFailure)) throw error;
    if (!error.isDecision) return;
  }
  await endForgotten(em, methodId);
}
