/** Adds when the owner dismissed a spend alert in the console. */
import { Migration } from '@mikro-orm/migrations';

/** Adds the column. */
export class DismissedAlerts extends Migration {
  override up(): void {
    this.addSql('alter table spend_alert add column dismissed_at timestamptz');
  }
}
