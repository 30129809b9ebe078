/** The age of idempotency keys: those past their time are found without a look at all others. */
import { Migration } from '@mikro-orm/migrations';

/** Makes them quick to find. */
export class IdempotencyAge extends Migration {
  override up(): void {
    this.addSql('create index idempotency_age on idempotency (created_at)');
  }
}
