/** Creates the list of saved cards that the processor must forget. */
import { Migration } from '@mikro-orm/migrations';

/** Adds `forgotten_card`. A row stays until the processor has detached the card. */
export class ForgottenCards extends Migration {
  override up(): void {
    this.addSql(`
      create table forgotten_card (
        method_id text primary key,
        forgotten_at timestamptz not null default clock_timestamp()
      )
    `);
  }
}
