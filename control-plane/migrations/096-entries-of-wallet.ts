/** Replaces two indexes of the ledger by one: each cost every charge of a lease another entry. */
import { Migration } from '@mikro-orm/migrations';
import { LOCK_MONEY } from './money-locks.ts';

/**
 * The new index has the entries of a wallet in their order, as `ledger_entry_wallet` had. It also serves the
 * balances of the newest ones from the index alone, as `ledger_entry_running` did for one bucket.
 */
const INDEXES = `
  create index ledger_entry_of_wallet on ledger_entry (wallet_id, seq) include (bucket, amount, kind)
    where wallet_id is not null;
  drop index ledger_entry_wallet, ledger_entry_running;
`;

/** Creates one index and drops two. */
export class EntriesOfWallet extends Migration {
  override up(): void {
    this.addSql(LOCK_MONEY);
    this.addSql(INDEXES);
  }
}
