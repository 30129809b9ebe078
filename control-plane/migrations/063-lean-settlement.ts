/** Makes settlement cheaper: the usage log and the ledger have an index fewer each. */
import { Migration } from '@mikro-orm/migrations';
import { LOCK_MONEY } from './money-locks.ts';

/**
 * Request ids are random: each row of the log changed a random page of the old primary key. With the time in
 * front it is as unique, new rows are at its end, and it serves lists by time in place of another index.
 */
const LOG = `
  alter table usage_entry drop constraint usage_entry_pkey;
  drop index usage_entry_at;
  alter table usage_entry add primary key (at, request_id);
`;

/** One index in place of two. It serves both pages and balances of the entries of a wallet. */
const LEDGER = `
  drop index ledger_entry_wallet;
  drop index ledger_entry_running;
  create index ledger_entry_wallet on ledger_entry (wallet_id, seq) include (bucket, amount, kind)
    where wallet_id is not null;
`;

/** Replaces the indexes. Reads all rows of the log and of the ledger to build the new ones. */
export class LeanSettlement extends Migration {
  override up(): void {
    for (const part of [LOCK_MONEY, LOG, LEDGER]) this.addSql(part);
  }
}
