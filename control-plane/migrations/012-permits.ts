/** Creates the log behind the requests-per-minute cap of pools: grants, uses, and promises of nodes. */
import { Migration } from '@mikro-orm/migrations';

/**
 * Times are in ms of the database's clock, which all control planes share. A grant is kept until its node
 * reports it as finished; then its uses are in `permit_use`, with times rounded up to 100 ms.
 */
const LOG = `
  create table permit_grant (
    id text primary key,
    pool_id text not null,
    node_id text not null references data_plane_node (id),
    permits integer not null check (permits > 0),
    granted_at bigint not null,
    expires_at bigint not null
  );
  create index permit_grant_pool on permit_grant (pool_id, expires_at);
  create table permit_use (
    pool_id text not null,
    at bigint not null,
    used integer not null check (used > 0),
    primary key (pool_id, at)
  );
`;

/** Uses in steps of 10 s, for the daily peak. */
const HISTORY = `
  create table permit_history (
    pool_id text not null,
    at bigint not null,
    used integer not null check (used > 0),
    primary key (pool_id, at)
  );
`;

/**
 * `free_until`: until then the node promises to admit nothing without permits. `suspect_until`: until then it
 * may have admitted requests that it cannot report. `nodes`, `place`: determine its share of a cap.
 */
const NODES = `
  create table permit_node (
    node_id text primary key references data_plane_node (id),
    free_until bigint not null,
    suspect_until bigint not null default 0,
    nodes integer not null check (nodes >= 0),
    place integer not null check (place >= -1)
  );
`;

/** Creates the tables of permits. */
export class Permits extends Migration {
  override up(): void {
    for (const part of [LOG, HISTORY, NODES]) this.addSql(part);
  }
}
