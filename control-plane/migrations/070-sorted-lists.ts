/** Adds indexes for lists that are sorted by another column than their time. */
import { Migration } from '@mikro-orm/migrations';

/** The usage log is sorted within one wallet. The other lists are those of administrators. */
export class SortedLists extends Migration {
  override up(): void {
    this.addSql(`create index usage_entry_cost on usage_entry (wallet_id, cost, at, id)`);
    this.addSql(`create index usage_entry_latency on usage_entry (wallet_id, latency_ms, at, id)`);
    this.addSql(`create index top_up_amount on top_up (amount, id)`);
    this.addSql(`create index pools_name on pools (name, id)`);
    this.addSql(`create index pools_end_id on pools (ends_at, id)`);
  }
}
