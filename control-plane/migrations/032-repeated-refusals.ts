/** Adds the number of refusals that a row of the usage log stands for beside its own request. */
import { Migration } from '@mikro-orm/migrations';

const REPEATS = `
  alter table usage_entry add column repeats integer not null default 0;
`;

/** Adds the column of repeated refusals. */
export class RepeatedRefusals extends Migration {
  override up(): void {
    this.addSql(REPEATS);
  }
}
