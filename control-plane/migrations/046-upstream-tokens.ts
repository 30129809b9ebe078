/** Adds the input tokens, and those from prompt caches, to the health of upstreams. */
import { Migration } from '@mikro-orm/migrations';

/** Adds the columns; nodes of earlier releases report none. */
export class UpstreamTokens extends Migration {
  override up(): void {
    this.addSql(`alter table upstream_health add column input_tokens integer not null default 0,
      add column cached_tokens integer not null default 0`);
  }
}
