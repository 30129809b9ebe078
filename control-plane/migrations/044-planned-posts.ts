/** Lets the ledger find the accounts of a posting by their ids, whatever the planner expects. */
import { Migration } from '@mikro-orm/migrations';

/**
 * The plan of a function is kept for the connection, and was made for an unknown number of lines. It read all
 * accounts for each posting: the larger the installation, the slower each settlement. The triggers of
 * migration 076 have the same settings.
 */
const INDEXES_ONLY = `
  alter function ledger_post(text, text, text, text, text, text, text, text, text[], bigint[], text[])
    set enable_hashjoin = off;
  alter function ledger_post(text, text, text, text, text, text, text, text, text[], bigint[], text[])
    set enable_mergejoin = off;
  alter function ledger_post(text, text, text, text, text, text, text, text, text[], bigint[], text[])
    set enable_seqscan = off;
`;

/** Changes the settings of the function. */
export class PlannedPosts extends Migration {
  override up(): void {
    this.addSql(INDEXES_ONLY);
  }
}
