/** Adds the attempts of a request to its row of the usage log. */
import { Migration } from '@mikro-orm/migrations';

/** Null for most rows, which then takes no space. */
const ATTEMPTS = `
  alter table usage_entry add column attempts jsonb, add column attempts_omitted integer;
`;

/** Adds the columns of attempts. */
export class Attempts extends Migration {
  override up(): void {
    this.addSql(ATTEMPTS);
  }
}
