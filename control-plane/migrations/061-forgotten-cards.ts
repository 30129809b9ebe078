/** Creates the list of saved cards that the processor must forget. */
import { Migration } from '@mikro-orm/migrations';

/**
 * Adds `forgotten_card`. A row stays until the processor has detached the card. Cards of payments that were
 * compared before the upgrade are saved already, and are not saved again.
 */
export class ForgottenCards extends Migration {
  override up(): void {
    this.addSql(`
      create table forgotten_card (
        method_id text primary key,
        forgotten_at timestamptz not null default clock_timestamp()
      )
    `);
    this.addSql(
      'update top_up set save_card = false where save_card and paid is not null and check_at is null',
    );
  }
}
