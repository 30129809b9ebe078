/**
 * Partitions the usage log by months, and creates the ids of settled requests and the sums that lists and
 * charts read. The old table becomes the oldest partition without copying a row.
 */
import { Migration } from '@mikro-orm/migrations';

/**
 * Makes request ids unique over all months, which a unique index of the partitioned table cannot, because it
 * has to contain the partition key. Ids of charged requests are kept when their month is dropped.
 */
const SETTLED = `
  lock table usage_entry in access exclusive mode;
  create table usage_request (
    request_id text primary key,
    at timestamptz not null
  );
  insert into usage_request (request_id, at) select request_id, at from usage_entry;
  create index usage_request_at on usage_request using brin (at);
  alter table usage_charge drop constraint usage_charge_request_id_fkey;
  alter table usage_charge add constraint usage_charge_request foreign key (request_id)
    references usage_request (request_id);
  create trigger usage_request_kept before update or truncate on usage_request
    for each statement execute function ledger_refuse();
  create table usage_partition (
    name text primary key,
    lower_at timestamptz not null,
    upper_at timestamptz not null check (upper_at > lower_at),
    dropped_at timestamptz,
    requests bigint,
    charges bigint,
    cost bigint,
    check ((dropped_at is null) = (cost is null))
  );
`;

const PARTITIONED = `
  alter table usage_entry rename to usage_entry_before;
  alter table usage_entry_before drop constraint usage_entry_pkey;
  alter table usage_entry_before drop constraint usage_entry_id_key;
  alter table usage_entry_before alter column request_id set not null;
  alter index usage_entry_wallet rename to usage_entry_before_wallet;
  alter index usage_entry_key rename to usage_entry_before_key;
  alter index usage_entry_pool rename to usage_entry_before_pool;
  alter index usage_entry_at rename to usage_entry_before_at;
  create table usage_entry (like usage_entry_before including defaults including constraints)
    partition by range (at);
  alter table usage_entry add primary key (request_id, at);
  alter table usage_entry add constraint usage_entry_wallet_id_fkey foreign key (wallet_id)
    references wallet (id);
  create index usage_entry_wallet on usage_entry (wallet_id, at desc, id desc);
  create index usage_entry_key on usage_entry (key_id, at desc, id desc);
  create index usage_entry_pool on usage_entry (pool_id, at desc) where pool_id is not null;
  create index usage_entry_at on usage_entry (at desc, id desc);
  create trigger usage_entry_append_only before update or delete or truncate on usage_entry
    for each statement execute function ledger_refuse();
  do $$ declare v_upper timestamptz; begin
    if not exists (select from usage_entry_before) then
      drop table usage_entry_before;
    else
      select date_trunc('month', greatest(max(at), clock_timestamp()) at time zone 'UTC') at time zone 'UTC'
        into v_upper from usage_entry_before;
      v_upper := (v_upper at time zone 'UTC' + interval '1 month') at time zone 'UTC';
      execute format('alter table usage_entry attach partition usage_entry_before
        for values from (minvalue) to (%L)', v_upper);
      insert into usage_partition (name, lower_at, upper_at)
        values ('usage_entry_before', '-infinity', v_upper);
    end if;
  end $$;
`;

/**
 * Only the owner of a table can attach and detach partitions; the runtime role uses these two functions. They
 * give up if they cannot get a lock within two seconds, so that traffic does not queue behind them; the next
 * call tries again.
 */
const FUNCTIONS = `
  create function usage_make_partitions(p_from timestamptz, p_until timestamptz) returns integer
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s'
  set timezone = 'UTC' as $$
  declare
    v_month timestamptz := date_trunc('month', p_from);
    v_next timestamptz;
    v_name text;
    v_made integer := 0;
  begin
    perform pg_advisory_xact_lock(7205116);
    while v_month < p_until loop
      v_next := v_month + interval '1 month';
      v_name := 'usage_entry_' || to_char(v_month, 'YYYY_MM');
      if not exists (select from usage_partition where lower_at < v_next and upper_at > v_month) then
        execute format('create table %I (like usage_entry including defaults including constraints)', v_name);
        execute format('create trigger usage_entry_append_only before update or delete or truncate on %I
          for each statement execute function ledger_refuse()', v_name);
        execute format('alter table usage_entry attach partition %I for values from (%L) to (%L)',
          v_name, v_month, v_next);
        insert into usage_partition (name, lower_at, upper_at) values (v_name, v_month, v_next);
        v_made := v_made + 1;
      end if;
      v_month := v_next;
    end loop;
    return v_made;
  end $$;

  create function usage_drop_partition(p_before timestamptz) returns text
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s'
  set timezone = 'UTC' as $$
  declare
    v_part usage_partition%rowtype;
    v_requests bigint;
    v_charges bigint;
    v_cost bigint;
  begin
    perform pg_advisory_xact_lock(7205116);
    select * into v_part from usage_partition
      where dropped_at is null and upper_at <= least(p_before, clock_timestamp() - interval '30 days')
      order by upper_at limit 1;
    if not found then
      return null;
    end if;
    execute format('select count(*), count(*) filter (where cost > 0), coalesce(sum(cost), 0) from %I',
      v_part.name) into v_requests, v_charges, v_cost;
    delete from usage_request r where r.at >= v_part.lower_at and r.at < v_part.upper_at
      and not exists (select from usage_charge c where c.request_id = r.request_id);
    execute format('alter table usage_entry detach partition %I', v_part.name);
    execute format('drop table %I', v_part.name);
    update usage_partition set dropped_at = clock_timestamp(), requests = v_requests, charges = v_charges,
      cost = v_cost where name = v_part.name;
    return v_part.name;
  end $$;

  do $$ declare f text; begin
    foreach f in array array['usage_make_partitions', 'usage_drop_partition'] loop
      execute format('revoke all on function %I from public', f);
      if exists (select from pg_roles where rolname = 'gateway_runtime') then
        execute format('grant execute on function %I to gateway_runtime', f);
      end if;
    end loop;
  end $$;
  select usage_make_partitions(now() - interval '3 days', now() + interval '3 months');
`;

/** Sums that a trigger updates in the transaction of the rows, so that no writer can forget them. */
const SUMS = `
  create table usage_hour (
    wallet_id text not null,
    hour timestamptz not null,
    key_id text not null,
    model_name text not null,
    pool_id text not null,
    billing_group text not null,
    source text not null,
    status text not null,
    requests bigint not null,
    input_tokens bigint not null,
    output_tokens bigint not null,
    cost bigint not null,
    primary key (wallet_id, hour, key_id, model_name, pool_id, billing_group, source, status)
  ) with (fillfactor = 80);
  create index usage_hour_key on usage_hour (key_id, hour);
  create index usage_hour_at on usage_hour (hour);
  create table usage_hour_all (
    hour timestamptz not null,
    model_name text not null,
    pool_id text not null,
    billing_group text not null,
    source text not null,
    status text not null,
    requests bigint not null,
    input_tokens bigint not null,
    output_tokens bigint not null,
    cost bigint not null,
    primary key (hour, model_name, pool_id, billing_group, source, status)
  ) with (fillfactor = 80);
  create table usage_key (
    key_id text primary key,
    last_used_at timestamptz not null,
    last_used_ip inet
  ) with (fillfactor = 80);
  create table usage_key_month (
    key_id text not null,
    month timestamptz not null,
    requests bigint not null,
    cost bigint not null,
    primary key (key_id, month)
  ) with (fillfactor = 80);
`;

/** SQL that adds a batch of rows to the sums; sorted, so that concurrent batches cannot deadlock. */
const addUp = (rows: string): string => `
  insert into usage_hour as s (wallet_id, hour, key_id, model_name, pool_id, billing_group, source, status,
      requests, input_tokens, output_tokens, cost)
    select wallet_id, date_trunc('hour', at, 'UTC'), key_id, model_name, coalesce(pool_id, ''), billing_group,
      source, status, count(*), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), sum(cost)
    from ${rows} group by 1, 2, 3, 4, 5, 6, 7, 8 order by 1, 2, 3, 4, 5, 6, 7, 8
    on conflict (wallet_id, hour, key_id, model_name, pool_id, billing_group, source, status) do update set
      requests = s.requests + excluded.requests, input_tokens = s.input_tokens + excluded.input_tokens,
      output_tokens = s.output_tokens + excluded.output_tokens, cost = s.cost + excluded.cost;
  insert into usage_key_month as s (key_id, month, requests, cost)
    select key_id, date_trunc('month', at, 'UTC'), count(*), sum(cost) from ${rows}
    group by 1, 2 order by 1, 2
    on conflict (key_id, month) do update set
      requests = s.requests + excluded.requests, cost = s.cost + excluded.cost;
  insert into usage_key as s (key_id, last_used_at, last_used_ip)
    select distinct on (key_id) key_id, at, ip from ${rows} order by key_id, at desc, id desc
    on conflict (key_id) do update set last_used_at = excluded.last_used_at,
      last_used_ip = excluded.last_used_ip where s.last_used_at <= excluded.last_used_at;
  insert into usage_hour_all as s (hour, model_name, pool_id, billing_group, source, status,
      requests, input_tokens, output_tokens, cost)
    select date_trunc('hour', at, 'UTC'), model_name, coalesce(pool_id, ''), billing_group, source, status,
      count(*), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), sum(cost)
    from ${rows} group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
    on conflict (hour, model_name, pool_id, billing_group, source, status) do update set
      requests = s.requests + excluded.requests, input_tokens = s.input_tokens + excluded.input_tokens,
      output_tokens = s.output_tokens + excluded.output_tokens, cost = s.cost + excluded.cost;
`;

const ADDING = `
  ${addUp('usage_entry')}
  create function usage_add_up() returns trigger language plpgsql as $$
  begin
    ${addUp('added')}
    return null;
  end $$;
  create trigger usage_entry_sums after insert on usage_entry referencing new table as added
    for each statement execute function usage_add_up();
`;

/** Serves the balances of a wallet's newest ledger entries from the index alone. */
const LEDGER_INDEX = `
  create index ledger_entry_running on ledger_entry (wallet_id, bucket, seq) include (amount, kind)
    where wallet_id is not null;
`;

/** Partitions the usage log by months and creates its sums. */
export class UsagePartitions extends Migration {
  override up(): void {
    for (const part of [SETTLED, PARTITIONED, FUNCTIONS, SUMS, ADDING, LEDGER_INDEX]) this.addSql(part);
  }
}
