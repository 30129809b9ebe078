/** The RPM cap of pools: permits that nodes hold, uses of the last minute, and which nodes act alone. */
import { Migration } from '@mikro-orm/migrations';

/**
 * Times are ms of the database's clock: the one clock of all processes of the control plane. A grant stands
 * until its node says what became of it; then its uses stand in `permit_use`, under the end of their 100 ms.
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

/** Uses in steps of 10 s, for the peak of a day. */
const HISTORY = `
  create table permit_history (
    pool_id text not null,
    at bigint not null,
    used integer not null check (used > 0),
    primary key (pool_id, at)
  );
`;

/**
 * Until when a node promised to admit nothing without permits, until when it may have done so although nobody
 * remembers, and by which place it would take its share.
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

/** Makes the log. */
export class Permits extends Migration {
  override up(): void {
    for (const part of [LOG, HISTORY, NODES]) this.addSql(part);
  }
}
