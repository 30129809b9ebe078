/**
 * The card that the processor keeps for automatic top-ups of a wallet. Only what is shown of it is stored.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type Stripe from 'stripe';
import { inTransaction, query, queryOne, sql } from '../../database/sql.ts';
import { holdPlayMoney } from '../play.money.ts';
import type { TopUpRow } from '../topup.entity.ts';
import { callProcessor, openProcessor, ProcessorFailure } from './processor.ts';
import type { ProcessorAccess } from './processor.ts';

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
 * Stores the card of a payment that was made to save it; nothing if it was not paid by card, or in a demo
 * that has ended.
 */
export async function saveCardOf(
  em: EntityManager,
  { walletId, playMoney }: TopUpRow,
  { customer, payment_method: method }: Stripe.PaymentIntent,
): Promise<void> {
  const customerId = typeof customer === 'string' ? customer : customer?.id;
  if (!customerId || typeof method !== 'object' || !method?.card) return;
  const { brand, last4, exp_month: month, exp_year: year } = method.card;
  await inTransaction(em, async (inner) => {
    if ((await holdPlayMoney(inner)) !== playMoney) return;
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

/**
 * Forgets the card here and at the processor, and switches automatic top-ups off. Throws
 * PAYMENT_PROVIDER_ERROR if the processor does not answer; a card that it does not know is forgotten.
 */
export async function forgetCard(
  em: EntityManager,
  walletId: string,
  access: ProcessorAccess,
): Promise<void> {
  const card = await savedCard(em, walletId);
  const processor = card ? await openProcessor(em, access) : null;
  if (card && processor) {
    try {
      await callProcessor(em, () => processor.stripe.paymentMethods.detach(card.methodId));
    } catch (error) {
      if (!(error instanceof ProcessorFailure) || !error.refused) throw error;
    }
  }
  await query(
    em,
    sql`with gone as (delete from saved_card where wallet_id = ${walletId})
    update auto_top_up set enabled = false, off_reason = 'NO_CARD' where wallet_id = ${walletId} and enabled`,
  );
}
