/** Adds how an upstream is reached, and what its credentials may be used for. */
import { Migration } from '@mikro-orm/migrations';

/** Adds the columns. Null is the access that all providers had: an API key in the header of the format. */
export class UpstreamAccess extends Migration {
  override up(): void {
    this.addSql('alter table provider add column access jsonb');
    this.addSql('alter table credential add column binding text');
  }
}
