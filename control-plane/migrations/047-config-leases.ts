/** Stores for each node how long it may serve with the configuration that it last received. */
import { Migration } from '@mikro-orm/migrations';

/**
 * `config_ms` is the uptime when the node last had a configuration stream; null before the first one. A
 * trigger stores it, so that a control plane of the previous release stores it, too, during an update.
 * `max_config_age_ms` is the node's MAX_CONFIG_AGE; nodes of earlier releases count with its default.
 */
const LEASES = `
  alter table data_plane_node add column config_ms bigint;
  alter table data_plane_node add column max_config_age_ms bigint not null default 86400000;
  update data_plane_node set config_ms = watched_ms() where last_seen_at is not null;
  create function note_config_stream() returns trigger language plpgsql
    set search_path = public, pg_temp as $$
  begin
    new.config_ms := watched_ms();
    return new;
  end $$;
  create trigger data_plane_node_stream before update of stream_seen_at on data_plane_node
    for each row execute function note_config_stream();
`;

/** Creates the columns from which the control plane knows which nodes may still serve. */
export class ConfigLeases extends Migration {
  override up(): void {
    this.addSql(LEASES);
  }
}
