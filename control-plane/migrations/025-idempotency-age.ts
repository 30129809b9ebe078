/** Adds an index by age to idempotency keys of the API, for pruning. */
import { Migration } from '@mikro-orm/migrations';

/** Creates the index. */
export class IdempotencyAge extends Migration {
  override up(): void {
    this.addSql('create index idempotency_age on idempotency (created_at)');
  }
}
