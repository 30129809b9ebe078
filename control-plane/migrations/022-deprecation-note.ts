/** What users of a model that goes away are told, beside when and what to use instead. */
import { Migration } from '@mikro-orm/migrations';

/** Makes room for it. */
export class DeprecationNote extends Migration {
  override up(): void {
    this.addSql('alter table model add column deprecation_note text');
  }
}
