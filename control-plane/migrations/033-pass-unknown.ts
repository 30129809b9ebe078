/** Adds the switch of a model that lets requests with unknown members pass. */
import { Migration } from '@mikro-orm/migrations';

/** Adds the column of the switch, off for all models. */
export class PassUnknown extends Migration {
  override up(): void {
    this.addSql('alter table model add column pass_unknown boolean not null default false');
  }
}
