/** Keys that wait for their reveal, by age: those past their time are found without a look at all others. */
import { Migration } from '@mikro-orm/migrations';

/** Makes them quick to find. */
export class UnrevealedKeys extends Migration {
  override up(): void {
    this.addSql(
      `create index api_key_unrevealed on api_key (created_at) where disabled_reason = 'NOT_REVEALED'`,
    );
  }
}
