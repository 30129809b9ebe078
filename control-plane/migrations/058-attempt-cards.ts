/** Stores with each automatic top-up the saved card with which it is paid. */
import { Migration } from '@mikro-orm/migrations';

/**
 * Adds the processor's ids of customer and card. They never change after the attempt has begun, so that a
 * repeated call asks for the same payment. Attempts that are in flight during the upgrade get the card that
 * is saved now, with which they began. Without one they fail, as they did before.
 */
export class AttemptCards extends Migration {
  override up(): void {
    this.addSql('alter table top_up add column card_customer_id text, add column card_method_id text');
    this.addSql(`
      update top_up set card_customer_id = saved_card.customer_id, card_method_id = saved_card.method_id
      from saved_card where saved_card.wallet_id = top_up.wallet_id and top_up.automatic
        and top_up.stage in ('CREATED', 'AWAITING_PAYMENT') and top_up.paid is null
    `);
    this.addSql(`
      update top_up set stage = 'FAILED', state = 'FAILED', check_at = null, failure_code = 'no_card'
      where automatic and card_method_id is null and payment_id is null and paid is null
        and stage in ('CREATED', 'AWAITING_PAYMENT')
    `);
  }
}
