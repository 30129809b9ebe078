/** Marks the top-ups that were made with the play money of a demo. */
import { Migration } from '@mikro-orm/migrations';

/** Adds `top_up.play_money`. It never changes after the top-up was begun. */
export class PlayMoney extends Migration {
  override up(): void {
    this.addSql('alter table top_up add column play_money boolean not null default false');
  }
}
