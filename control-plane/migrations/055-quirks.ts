/** Adds the quirks of upstreams and routes: rows that say how an upstream differs from its formats. */
import { Migration } from '@mikro-orm/migrations';

/** Adds the columns; existing upstreams and routes have no quirks. */
export class Quirks extends Migration {
  override up(): void {
    this.addSql(`alter table provider add column quirks jsonb not null default '[]'`);
    this.addSql(`alter table route add column quirks jsonb not null default '[]'`);
  }
}
