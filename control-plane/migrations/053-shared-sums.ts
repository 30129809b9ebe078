/** Makes settlement faster: the rows of a statement are added up once for all sums. */
import { Migration } from '@mikro-orm/migrations';
import { LOCK_MONEY } from './money-locks.ts';

/**
 * The sums of migrations 076 and 045. `base` reads the rows, which are wide, once. Four sums are made of it,
 * each in the order of its key, so that concurrent batches cannot deadlock. A batch adds to one shard of the
 * sums of all wallets, by its connection, because it has rows of several nodes.
 */
const ADDING = `
  drop trigger usage_entry_wallet_spans on usage_entry;
  drop function usage_add_up_spans();
  create or replace function usage_add_up() returns trigger language plpgsql as $$
  begin
    with base as materialized (
      select wallet_id, date_trunc('hour', at, 'UTC') as hour, key_id, model_name,
        coalesce(pool_id, '') as pool_id, billing_group, source, status, count(*) as requests,
        coalesce(sum(input_tokens), 0) as input_tokens, coalesce(sum(output_tokens), 0) as output_tokens,
        coalesce(sum(cached_tokens), 0) as cached_tokens, sum(cost) as cost
      from added group by 1, 2, 3, 4, 5, 6, 7, 8
    ), hours as (
      insert into usage_hour as s (wallet_id, hour, key_id, model_name, pool_id, billing_group, source,
          status, requests, input_tokens, output_tokens, cached_tokens, cost)
        select * from base order by 1, 2, 3, 4, 5, 6, 7, 8
        on conflict (wallet_id, hour, key_id, model_name, pool_id, billing_group, source, status)
        do update set
          requests = s.requests + excluded.requests, input_tokens = s.input_tokens + excluded.input_tokens,
          output_tokens = s.output_tokens + excluded.output_tokens,
          cached_tokens = s.cached_tokens + excluded.cached_tokens, cost = s.cost + excluded.cost
    ), key_months as (
      insert into usage_key_month as s (key_id, month, requests, cost)
        select key_id, date_trunc('month', hour, 'UTC'), sum(requests), sum(cost) from base
        group by 1, 2 order by 1, 2
        on conflict (key_id, month) do update set
          requests = s.requests + excluded.requests, cost = s.cost + excluded.cost
    ), spans as (
      insert into usage_wallet_span as s (width, at, wallet_id, requests, failed, input_tokens, output_tokens,
          cached_tokens, cost)
        select w.width, date_trunc(w.width, b.hour, 'UTC'), b.wallet_id, sum(b.requests),
          coalesce(sum(b.requests) filter (where b.status <> 'SUCCEEDED'), 0), sum(b.input_tokens),
          sum(b.output_tokens), sum(b.cached_tokens), sum(b.cost)
        from base b cross join (values ('DAY'), ('WEEK')) w (width) group by 1, 2, 3 order by 1, 2, 3
        on conflict (width, at, wallet_id) do update set requests = s.requests + excluded.requests,
          failed = s.failed + excluded.failed, input_tokens = s.input_tokens + excluded.input_tokens,
          output_tokens = s.output_tokens + excluded.output_tokens,
          cached_tokens = s.cached_tokens + excluded.cached_tokens, cost = s.cost + excluded.cost
    )
    insert into usage_hour_all as s (hour, model_name, pool_id, billing_group, source, status, shard,
        requests, input_tokens, output_tokens, cached_tokens, cost)
      select hour, model_name, pool_id, billing_group, source, status, pg_backend_pid() & 15, sum(requests),
        sum(input_tokens), sum(output_tokens), sum(cached_tokens), sum(cost)
      from base group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
      on conflict (hour, model_name, pool_id, billing_group, source, status, shard) do update set
        requests = s.requests + excluded.requests, input_tokens = s.input_tokens + excluded.input_tokens,
        output_tokens = s.output_tokens + excluded.output_tokens,
        cached_tokens = s.cached_tokens + excluded.cached_tokens, cost = s.cost + excluded.cost;
    insert into usage_key as s (key_id, last_used_at, last_used_ip)
      select distinct on (key_id) key_id, at, ip from added order by key_id, at desc, id desc
      on conflict (key_id) do update set last_used_at = excluded.last_used_at,
        last_used_ip = excluded.last_used_ip where s.last_used_at <= excluded.last_used_at;
    return null;
  end $$;
`;

/**
 * A foreign key cost one query for each entry. The trigger of migration 089 checks the transactions of a
 * statement as it checks their accounts, with the same error code. Transactions are never deleted or changed.
 */
const TRANSACTIONS = `
  alter table ledger_entry drop constraint ledger_entry_transaction_id_fkey;
  create or replace function ledger_check_sum() returns trigger language plpgsql
  set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
  declare
    v_transactions text[] := array(select distinct transaction_id from added);
    v_unbalanced text;
  begin
    if exists (select from (select distinct account_id from added) a
        where not exists (select from ledger_account o where o.id = a.account_id)) then
      raise foreign_key_violation using message = 'a ledger entry names an account that does not exist';
    end if;
    if exists (select from unnest(v_transactions) as a (id)
        where not exists (select from ledger_transaction t where t.id = a.id)) then
      raise foreign_key_violation using message = 'a ledger entry names a transaction that does not exist';
    end if;
    select e.transaction_id into v_unbalanced from ledger_entry e
      where e.transaction_id = any (v_transactions)
      group by e.transaction_id having sum(e.amount) <> 0 limit 1;
    if found then
      raise exception 'ledger transaction % does not sum to zero', v_unbalanced;
    end if;
    return null;
  end $$;
`;

/**
 * Leaves room for the next version of a row on its page: without it, an update writes to every index of the
 * table. Each charge updates a lease and an account. Pages that are full already stay as they are.
 */
const ROOM = `
  alter table wallet_lease set (fillfactor = 60);
  alter table ledger_account set (fillfactor = 70);
`;

/** Replaces the functions, one trigger and one foreign key. Reads no rows. */
export class SharedSums extends Migration {
  override up(): void {
    for (const part of [LOCK_MONEY, ADDING, TRANSACTIONS, ROOM]) this.addSql(part);
  }
}
