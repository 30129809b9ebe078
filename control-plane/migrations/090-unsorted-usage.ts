/** Drops the indexes that sorted the usage log by cost and latency: they cost each settlement a tenth. */
import { Migration } from '@mikro-orm/migrations';

/** The indexes of migration 070 on the usage log. */
export class UnsortedUsage extends Migration {
  override up(): void {
    this.addSql('drop index usage_entry_cost');
    this.addSql('drop index usage_entry_latency');
  }
}
