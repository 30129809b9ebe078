/** Makes settlement cheaper: the usage log has an index fewer. */
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

/** Replaces the indexes. Reads all rows of the log to build the new one. */
export class LeanSettlement extends Migration {
  override up(): void {
    for (const part of [LOCK_MONEY, LOG]) this.addSql(part);
  }
}
