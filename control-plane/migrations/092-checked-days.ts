/** Lets the ledger check compare the summed days of wallets with the ledger, a few days each time. */
import { Migration } from '@mikro-orm/migrations';

/**
 * A row for each summed day: its entries have sequence numbers from `lower_seq` to below `upper_seq`. Null in
 * `compared_at` stands for a day that was not checked yet. The first row also covers the days that were
 * summed before this migration. The index finds the rows of a range.
 */
const TABLE = `
  create table wallet_usage_range (
    lower_seq bigint primary key,
    upper_seq bigint not null unique check (upper_seq > lower_seq),
    day date not null,
    compared_at timestamptz
  );
  create index wallet_usage_day_last on wallet_usage_day (last_seq);
`;

/** Creates the table and the index. */
export class CheckedDays extends Migration {
  override up(): void {
    this.addSql(TABLE);
  }
}
