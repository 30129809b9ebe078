/** Stores two facts of payments that were only in English texts: a state, and the number of a lost block. */
import { Migration } from '@mikro-orm/migrations';

/** Old rows get what their texts say. A control plane of an earlier release leaves the columns empty. */
const COLUMNS = `
  alter table payment_correction add column state text;
  update payment_correction set state = substring(detail from '; now ([A-Z_]+)[.]$');
  alter table crypto_chain add column frozen_block bigint;
  update crypto_chain set frozen_block = substring(frozen_reason from '^Block ([0-9]+) ')::bigint
    where frozen_at is not null;
`;

/** Adds the columns. */
export class NamedFacts extends Migration {
  override up(): void {
    this.addSql(COLUMNS);
  }
}
