/**
 * Makes settlement faster: the sums of all wallets are sharded by node, and rules that were checked for each
 * row are checked for each statement.
 */
import { Migration } from '@mikro-orm/migrations';

/** Readers add the shards up. Nodes that settle at the same time wait for each other only within a shard. */
const SHARDS = `
  lock table usage_entry in share row exclusive mode;
  alter table usage_hour_all add column shard smallint not null default 0;
  alter table usage_hour_all drop constraint usage_hour_all_pkey;
  alter table usage_hour_all
    add primary key (hour, model_name, pool_id, billing_group, source, status, shard);
`;

/** The function of migration 045 with shards; sorted, so that concurrent batches cannot deadlock. */
const ADDING = `
  create or replace function usage_add_up() returns trigger language plpgsql as $$
  begin
    insert into usage_hour as s (wallet_id, hour, key_id, model_name, pool_id, billing_group, source, status,
        requests, input_tokens, output_tokens, cached_tokens, cost)
      select wallet_id, date_trunc('hour', at, 'UTC'), key_id, model_name, coalesce(pool_id, ''),
        billing_group, source, status, count(*), coalesce(sum(input_tokens), 0),
        coalesce(sum(output_tokens), 0), coalesce(sum(cached_tokens), 0), sum(cost)
      from added group by 1, 2, 3, 4, 5, 6, 7, 8 order by 1, 2, 3, 4, 5, 6, 7, 8
      on conflict (wallet_id, hour, key_id, model_name, pool_id, billing_group, source, status) do update set
        requests = s.requests + excluded.requests, input_tokens = s.input_tokens + excluded.input_tokens,
        output_tokens = s.output_tokens + excluded.output_tokens,
        cached_tokens = s.cached_tokens + excluded.cached_tokens, cost = s.cost + excluded.cost;
    insert into usage_key_month as s (key_id, month, requests, cost)
      select key_id, date_trunc('month', at, 'UTC'), count(*), sum(cost) from added
      group by 1, 2 order by 1, 2
      on conflict (key_id, month) do update set
        requests = s.requests + excluded.requests, cost = s.cost + excluded.cost;
    insert into usage_key as s (key_id, last_used_at, last_used_ip)
      select distinct on (key_id) key_id, at, ip from added order by key_id, at desc, id desc
      on conflict (key_id) do update set last_used_at = excluded.last_used_at,
        last_used_ip = excluded.last_used_ip where s.last_used_at <= excluded.last_used_at;
    insert into usage_hour_all as s (hour, model_name, pool_id, billing_group, source, status, shard,
        requests, input_tokens, output_tokens, cached_tokens, cost)
      select date_trunc('hour', at, 'UTC'), model_name, coalesce(pool_id, ''), billing_group, source, status,
        (hashtext(node_id) & 15)::smallint, count(*), coalesce(sum(input_tokens), 0),
        coalesce(sum(output_tokens), 0), coalesce(sum(cached_tokens), 0), sum(cost)
      from added group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7
      on conflict (hour, model_name, pool_id, billing_group, source, status, shard) do update set
        requests = s.requests + excluded.requests, input_tokens = s.input_tokens + excluded.input_tokens,
        output_tokens = s.output_tokens + excluded.output_tokens,
        cached_tokens = s.cached_tokens + excluded.cached_tokens, cost = s.cost + excluded.cost;
    return null;
  end $$;
`;

/**
 * Foreign keys cost one query for each row. These triggers check the same for all rows of a statement, with
 * the same error code. The settings prevent a plan for a small table that reads the whole table when it has
 * grown. Rows that charges name are never deleted: the last two triggers refuse it.
 */
const REFERENCES = `
  alter table usage_entry drop constraint usage_entry_wallet_id_fkey;
  alter table usage_charge drop constraint usage_charge_request;
  alter table usage_charge drop constraint usage_charge_lease_id_fkey;
  alter table usage_charge drop constraint usage_charge_transaction_id_fkey;
  create function usage_entry_check() returns trigger language plpgsql
  set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
  begin
    if exists (select from (select distinct wallet_id from added) a
        where not exists (select from wallet w where w.id = a.wallet_id)) then
      raise foreign_key_violation using message = 'a usage row names a wallet that does not exist';
    end if;
    return null;
  end $$;
  create trigger usage_entry_wallets after insert on usage_entry referencing new table as added
    for each statement execute function usage_entry_check();
  create function usage_charge_check() returns trigger language plpgsql
  set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
  begin
    if exists (select from added a
        where not exists (select from usage_request r where r.request_id = a.request_id))
      or exists (select from (select distinct lease_id from added) a
        where not exists (select from wallet_lease l where l.id = a.lease_id))
      or exists (select from (select distinct transaction_id from added) a
        where not exists (select from ledger_transaction t where t.id = a.transaction_id)) then
      raise foreign_key_violation
        using message = 'a charge names a request, lease or transaction that does not exist';
    end if;
    return null;
  end $$;
  create trigger usage_charge_references after insert on usage_charge referencing new table as added
    for each statement execute function usage_charge_check();
  create function usage_request_check() returns trigger language plpgsql
  set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
  begin
    if exists (select from removed r where exists (select from usage_charge c
        where c.request_id = r.request_id)) then
      raise foreign_key_violation using message = 'the id of a charged request is kept';
    end if;
    return null;
  end $$;
  create trigger usage_request_charged after delete on usage_request referencing old table as removed
    for each statement execute function usage_request_check();
  create trigger wallet_lease_kept before delete or truncate on wallet_lease
    for each statement execute function ledger_refuse();
`;

/** Checks each statement instead of each row: every statement that adds entries has to balance. */
const BALANCE = `
  drop trigger ledger_entry_sum on ledger_entry;
  create or replace function ledger_check_sum() returns trigger language plpgsql
  set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
  declare
    v_unbalanced text;
  begin
    select e.transaction_id into v_unbalanced from ledger_entry e
      where e.transaction_id = any (array(select distinct transaction_id from added))
      group by e.transaction_id having sum(e.amount) <> 0 limit 1;
    if found then
      raise exception 'ledger transaction % does not sum to zero', v_unbalanced;
    end if;
    return null;
  end $$;
  create trigger ledger_entry_sum after insert on ledger_entry referencing new table as added
    for each statement execute function ledger_check_sum();
`;

/** Shards the sums and replaces checks of rows by checks of statements. */
export class FastSettlement extends Migration {
  override up(): void {
    for (const part of [SHARDS, ADDING, REFERENCES, BALANCE]) this.addSql(part);
  }
}
