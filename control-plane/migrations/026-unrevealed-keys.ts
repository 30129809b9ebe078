/** Adds an index by age to keys that were not revealed, for closing old ones. */
import { Migration } from '@mikro-orm/migrations';

/** Creates the index. */
export class UnrevealedKeys extends Migration {
  override up(): void {
    this.addSql(
      `create index api_key_unrevealed on api_key (created_at) where disabled_reason = 'NOT_REVEALED'`,
    );
  }
}
