/** Creates the sums that the uptime of models is computed from, and the incidents of the status page. */
import { Migration } from '@mikro-orm/migrations';

/**
 * One row per hour, model and family. `customers` is a set of 64 bits: each customer of the hour sets the bit
 * of its hash, so that sets of several hours can be united. `uptime_hour_read` has the number of rows of the
 * usage log from which the sums of an hour were computed.
 */
const UPTIME = `
  create table uptime_hour (
    hour timestamptz not null,
    model_name text not null,
    family text not null,
    served bigint not null default 0 check (served >= 0),
    failed bigint not null default 0 check (failed >= 0),
    customers bigint not null default 0,
    checks_up bigint not null default 0 check (checks_up >= 0),
    checks_down bigint not null default 0 check (checks_down >= 0),
    primary key (hour, model_name, family)
  ) with (fillfactor = 80);
  create table uptime_hour_read (
    hour timestamptz primary key,
    requests bigint not null check (requests >= 0)
  );
`;

const INCIDENTS = `
  create table incident (
    id text primary key,
    kind text not null check (kind in ('DEGRADATION', 'OUTAGE', 'MAINTENANCE')),
    title text not null,
    state text not null,
    model_names text[] not null,
    families text[] not null,
    starts_at timestamptz not null,
    ends_at timestamptz check (ends_at > starts_at),
    resolved_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    version integer not null default 1,
    check ((state = 'RESOLVED') = (resolved_at is not null))
  );
  create index incident_open on incident (starts_at desc) where resolved_at is null;
  create index incident_resolved on incident (resolved_at desc);
  create table incident_update (
    id text primary key,
    incident_id text not null references incident (id) on delete cascade,
    at timestamptz not null,
    state text not null,
    message text not null
  );
  create index incident_update_incident on incident_update (incident_id, at desc);
`;

/** Creates the tables; the job of the uptime fills the sums of hours that the usage log still has. */
export class ServiceStatus extends Migration {
  override up(): void {
    for (const part of [UPTIME, INCIDENTS]) this.addSql(part);
  }
}
