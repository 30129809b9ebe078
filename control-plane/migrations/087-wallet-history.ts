/** Creates the sums of usage by day that the history of a wallet shows. */
import { Migration } from '@mikro-orm/migrations';
import { LOCK_MONEY } from './money-locks.ts';

/**
 * A row of `wallet_usage_day` is written once, after its day has ended. Entries from `next_seq` on are not
 * summed yet. The index serves entries that are not usage, which are few among many.
 */
const TABLES = `
  create table wallet_usage_day (
    wallet_id text not null,
    bucket text not null check (bucket in ('CASH', 'GIFT')),
    day date not null,
    first_seq bigint not null,
    last_seq bigint not null check (last_seq >= first_seq),
    entries bigint not null,
    amount bigint not null,
    balance_after bigint not null,
    primary key (wallet_id, bucket, day)
  );
  create index wallet_usage_day_seq on wallet_usage_day (wallet_id, last_seq);
  create table wallet_usage_seal (
    id smallint primary key default 1 check (id = 1),
    day date,
    next_seq bigint not null default 0
  );
  insert into wallet_usage_seal default values;
  create index ledger_entry_movement on ledger_entry (wallet_id, seq)
    where bucket is not null and kind not in ('USAGE', 'LEASE_GRANT', 'LEASE_RETURN');
`;

/** Creates the tables and the index. */
export class WalletHistory extends Migration {
  override up(): void {
    this.addSql(LOCK_MONEY);
    this.addSql(TABLES);
  }
}
