/** Creates the usage log (metadata only), its charges, and the alarms of settlement. */
import { Migration } from '@mikro-orm/migrations';

const USAGE = `
  create table usage_entry (
    request_id text primary key,
    id text not null unique,
    at timestamptz not null,
    recorded_at timestamptz not null default clock_timestamp(),
    node_id text not null,
    key_id text not null,
    wallet_id text not null references wallet (id),
    pool_id text,
    billing_group text not null,
    source text not null,
    model_name text not null,
    family text not null,
    route_id text,
    base_price bigint not null check (base_price >= 0),
    ratio text not null,
    cost bigint not null check (cost >= 0),
    input_tokens bigint,
    output_tokens bigint,
    cached_tokens bigint,
    reasoning_tokens bigint,
    status text not null,
    outcome text not null,
    http_status smallint not null,
    error_code text,
    streamed boolean not null,
    latency_ms integer not null,
    ttft_ms integer,
    ip inet,
    losses_in_answer integer not null default 0
  );
  create index usage_entry_wallet on usage_entry (wallet_id, at desc, id desc);
  create index usage_entry_key on usage_entry (key_id, at desc, id desc);
  create index usage_entry_pool on usage_entry (pool_id, at desc) where pool_id is not null;
  create index usage_entry_at on usage_entry (at desc, id desc);
  create table usage_charge (
    request_id text primary key references usage_entry (request_id),
    lease_id text not null references wallet_lease (id),
    journal_id text not null,
    seq bigint not null check (seq > 0),
    amount bigint not null check (amount > 0),
    settlement text not null check (settlement in ('LEASE', 'WALLET', 'WRITEOFF')),
    transaction_id text not null references ledger_transaction (id),
    unique (journal_id, seq)
  );
  create index usage_charge_lease on usage_charge (lease_id);
  create index usage_charge_transaction on usage_charge (transaction_id);
  create table settlement_alarm (
    id text primary key,
    at timestamptz not null default clock_timestamp(),
    kind text not null check (kind in ('REJECTED', 'LATE', 'WRITEOFF')),
    node_id text not null,
    request_id text not null,
    journal_id text,
    seq bigint,
    reason text not null,
    unique (request_id, journal_id, seq, reason)
  );
`;

const GUARDS = `
  create trigger usage_entry_append_only before update or delete or truncate on usage_entry
    for each statement execute function ledger_refuse();
  create trigger usage_charge_append_only before update or delete or truncate on usage_charge
    for each statement execute function ledger_refuse();
  create trigger settlement_alarm_append_only before update or delete or truncate on settlement_alarm
    for each statement execute function ledger_refuse();
`;

/** Creates the usage log, charges and alarms. */
export class Usage extends Migration {
  override up(): void {
    for (const part of [USAGE, GUARDS]) this.addSql(part);
  }
}
