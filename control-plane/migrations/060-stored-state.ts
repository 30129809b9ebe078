/** Adds the switch of a model that lets upstreams store state, and the key of the ids of stored objects. */
import { Migration } from '@mikro-orm/migrations';

/**
 * The key is made at the next start of a control plane, which knows SECRET_KEY. `sealed` is encrypted under
 * SECRET_KEY.
 */
const STATE = `
  alter table model add column stores_state boolean not null default false;
  alter table model add column state_retention_days integer not null default 30
    check (state_retention_days between 1 and 3650);
  create table state_key (
    id text primary key check (id = 'settings'),
    sealed text not null
  );
`;

/** Creates the columns and the table of stored state, off for all models. */
export class StoredState extends Migration {
  override up(): void {
    this.addSql(STATE);
  }
}
