/** Adds how routes of a model are chosen, and what a request costs the operator on a route. */
import { Migration } from '@mikro-orm/migrations';

/** Adds the columns; existing models keep fixed shares, and costs are unknown. */
export class Routing extends Migration {
  override up(): void {
    this.addSql(`alter table model add column routing text not null default 'FIXED'
      check (routing in ('FIXED', 'FASTEST', 'CHEAPEST')),
      add column hedged boolean not null default false`);
    this.addSql('alter table route add column cost bigint check (cost >= 0)');
  }
}
