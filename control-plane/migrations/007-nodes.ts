/** Creates data-plane nodes, their journals, and the compacted configuration log for nodes. */
import { Migration } from '@mikro-orm/migrations';

const NODES = `
  create table data_plane_node (
    id text primary key,
    name text not null unique,
    token_digest text not null unique,
    region text,
    version text,
    public_key text,
    journal_id text,
    applied_revision integer not null default 0,
    applied_checksum text,
    applied_at timestamptz,
    last_ack_error text,
    rps text not null default '0',
    inflight integer not null default 0,
    event_loop_p99_ms integer not null default 0,
    usage_backlog integer not null default 0,
    draining boolean not null default false,
    last_seen_at timestamptz,
    stream_id text,
    stream_seen_at timestamptz,
    started_at timestamptz,
    created_at timestamptz not null default clock_timestamp()
  );
  create table node_journal (
    id text primary key,
    node_id text not null references data_plane_node (id),
    registered_at timestamptz not null default clock_timestamp(),
    last_contact_at timestamptz not null default clock_timestamp()
  );
  alter table wallet_lease add foreign key (node_id) references data_plane_node (id);
  alter table wallet_lease add foreign key (journal_id) references node_journal (id);
`;

/**
 * One row per (kind, key): writing compacts the log. A removed row stays as a tombstone until it is pruned.
 */
const CONFIG = `
  create table config_log (
    kind text not null,
    key text not null,
    revision integer not null,
    payload jsonb,
    removed boolean not null default false,
    written_at timestamptz not null default clock_timestamp(),
    primary key (kind, key),
    check (removed = (payload is null))
  );
  create index config_log_revision on config_log (revision);
  create table config_head (
    id integer primary key check (id = 1),
    revision integer not null,
    -- Deltas from below this revision are impossible: tombstones up to it are gone.
    pruned_to integer not null
  );
  insert into config_head (id, revision, pruned_to) values (1, 0, 0);
`;

/** Creates nodes, journals and the configuration log. */
export class Nodes extends Migration {
  override up(): void {
    for (const part of [NODES, CONFIG]) this.addSql(part);
  }
}
