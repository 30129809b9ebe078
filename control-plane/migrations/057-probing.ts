/** Adds how often an upstream is probed on its own. */
import { Migration } from '@mikro-orm/migrations';

/** Adds the column; existing upstreams are not probed. */
export class Probing extends Migration {
  override up(): void {
    this.addSql(`alter table provider add column probe_minutes integer
      check (probe_minutes between 1 and 1440)`);
  }
}
