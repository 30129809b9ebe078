/** Lets a digest of a ledger range find its charges by their index, however many charges there are. */
import { Migration } from '@mikro-orm/migrations';

/**
 * The planner does not know how short a range is: it read all charges for each one. The settings are those of
 * the triggers of migration 076.
 */
const INDEXES_ONLY = `
  alter function check_segment_digest(bigint, bigint) set enable_hashjoin = off;
  alter function check_segment_digest(bigint, bigint) set enable_mergejoin = off;
  alter function check_segment_digest(bigint, bigint) set enable_seqscan = off;
`;

/** Changes the settings of the function. */
export class PlannedDigests extends Migration {
  override up(): void {
    this.addSql(INDEXES_ONLY);
  }
}
