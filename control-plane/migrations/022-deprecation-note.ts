/** Adds a note to deprecated models, shown beside the retirement date and the replacement. */
import { Migration } from '@mikro-orm/migrations';

/** Adds the column of the note. */
export class DeprecationNote extends Migration {
  override up(): void {
    this.addSql('alter table model add column deprecation_note text');
  }
}
