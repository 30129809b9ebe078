/** Creates the endpoints of webhooks, their deliveries, and the state of upstreams that was last reported. */
import { Migration } from '@mikro-orm/migrations';

/** `failing_since` is the first failure after the last success; null while deliveries succeed. */
const ENDPOINTS = `
  create table webhook_endpoint (
    id text primary key,
    owner_id text not null references users (id),
    url text not null,
    description text not null,
    events text[] not null,
    state text not null check (state in ('ENABLED', 'DISABLED', 'FAILED')),
    sealed_secret text not null,
    previous_sealed text,
    previous_until timestamptz,
    failing_since timestamptz,
    version integer not null default 1,
    created_at timestamptz not null default now()
  );
  create index webhook_endpoint_owner on webhook_endpoint (owner_id);
`;

/** A delivery is the outbox row of an event, written in the transaction of the event. */
const DELIVERIES = `
  create table webhook_delivery (
    id text primary key,
    event_id text not null,
    endpoint_id text not null references webhook_endpoint (id) on delete cascade,
    owner_id text not null,
    type text not null,
    payload text not null,
    state text not null default 'PENDING' check (state in ('PENDING', 'DELIVERED', 'FAILED')),
    attempts integer not null default 0,
    next_at timestamptz not null default now(),
    reserved_until timestamptz,
    last_at timestamptz,
    last_status integer,
    last_error text check (last_error in ('ADDRESS', 'CONNECTION', 'TIMEOUT', 'STATUS')),
    created_at timestamptz not null default now()
  );
  create index webhook_delivery_due on webhook_delivery (next_at) where state = 'PENDING';
  create index webhook_delivery_endpoint on webhook_delivery (endpoint_id, id);
  create index webhook_delivery_reserved on webhook_delivery (owner_id) where reserved_until is not null;
  create index webhook_delivery_age on webhook_delivery (created_at);
`;

const UPSTREAMS = `
  create table webhook_upstream (
    provider_id text primary key references provider (id) on delete cascade,
    since timestamptz not null default now()
  );
`;

/** Creates the tables of webhooks. */
export class Webhooks extends Migration {
  override up(): void {
    for (const part of [ENDPOINTS, DELIVERIES, UPSTREAMS]) this.addSql(part);
  }
}
