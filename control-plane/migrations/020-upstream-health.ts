/**
 * Creates the health of upstreams as nodes report it, the use of credentials, and the last probe of each
 * upstream.
 */
import { Migration } from '@mikro-orm/migrations';

/** The newest report of each node about each upstream. Readers ignore old reports, so none is deleted. */
const HEALTH = `
  create table upstream_health (
    node_id text not null references data_plane_node (id),
    provider_id text not null references provider (id) on delete cascade,
    at timestamptz not null,
    circuit text not null check (circuit in ('CLOSED', 'HALF_OPEN', 'OPEN')),
    requests integer not null,
    busy integer not null,
    timeouts integer not null,
    refused integer not null,
    failed integer not null,
    p50_ms integer,
    p95_ms integer,
    primary key (node_id, provider_id)
  );
  create index upstream_health_provider on upstream_health (provider_id);
`;

const CREDENTIALS = `
  create table credential_use (
    credential_id text primary key references credential (id) on delete cascade,
    last_used_at timestamptz not null,
    last_error text check (last_error in ('BUSY', 'TIMEOUT', 'REFUSED', 'FAILED')),
    last_error_at timestamptz
  );
`;

const PROBES = `
  create table upstream_probe (
    provider_id text primary key references provider (id) on delete cascade,
    at timestamptz not null,
    http_status integer,
    latency_ms integer not null,
    error text check (error in ('BUSY', 'TIMEOUT', 'REFUSED', 'FAILED'))
  );
`;

/** Creates the tables of upstream health. */
export class UpstreamHealth extends Migration {
  override up(): void {
    for (const part of [HEALTH, CREDENTIALS, PROBES]) this.addSql(part);
  }
}
