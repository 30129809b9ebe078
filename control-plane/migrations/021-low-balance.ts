/** When the owner of a wallet was warned of a low balance; null while a warning may follow. */
import { Migration } from '@mikro-orm/migrations';

/** Few set a threshold, and only their wallets are looked through. */
const WARNED = `
  alter table wallet add column low_balance_warned_at timestamptz;
  create index wallet_low_balance on wallet (id) where low_balance_threshold is not null;
`;

/** Makes room for it. */
export class LowBalance extends Migration {
  override up(): void {
    this.addSql(WARNED);
  }
}
