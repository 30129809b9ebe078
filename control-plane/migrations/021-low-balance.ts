/**
 * Adds the time at which the owner of a wallet was warned of a low balance; null if the next warning may be
 * sent.
 */
import { Migration } from '@mikro-orm/migrations';

/** Few users set a threshold, so the job reads only this partial index. */
const WARNED = `
  alter table wallet add column low_balance_warned_at timestamptz;
  create index wallet_low_balance on wallet (id) where low_balance_threshold is not null;
`;

/** Adds the column of the warning. */
export class LowBalance extends Migration {
  override up(): void {
    this.addSql(WARNED);
  }
}
