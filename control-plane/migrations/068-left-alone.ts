/**
 * Adds until when nodes leave credentials and routes alone, and by how much the clock of a node differs from
 * that of an upstream which refuses its authentication.
 */
import { Migration } from '@mikro-orm/migrations';

/** Nodes of earlier releases report none of this. */
export class LeftAlone extends Migration {
  override up(): void {
    this.addSql(`alter table upstream_health add column clock_ahead_ms integer`);
    this.addSql(`alter table credential_use add column suspended_until timestamptz,
      add column spent_until timestamptz`);
    this.addSql(`create table route_circuit (
      route_id text primary key references route (id) on delete cascade,
      open_until timestamptz not null
    )`);
  }
}
