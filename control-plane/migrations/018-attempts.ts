/** What a request tried before it was answered, or in vain, beside its row of the usage log. */
import { Migration } from '@mikro-orm/migrations';

/** Absent for most rows, and then without a byte; it goes with its month, as the row does. */
const ATTEMPTS = `
  alter table usage_entry add column attempts jsonb, add column attempts_omitted integer;
`;

/** Makes room for the turns of upstreams. */
export class Attempts extends Migration {
  override up(): void {
    this.addSql(ATTEMPTS);
  }
}
