/** Makes settlement cheaper: its checks and sums read rows fewer times. */
import { Migration } from '@mikro-orm/migrations';
import { LOCK_MONEY } from './money-locks.ts';

/** The function of migrations 002 and 044, which locks the accounts and compares the balances in one pass. */
const POSTS = `
  create or replace function ledger_post(
    p_id text, p_kind text, p_reference text, p_actor_kind text, p_actor_id text, p_description text,
      p_reverses text,
    p_input text, p_accounts text[], p_amounts bigint[], p_entries text[]
  ) returns table (transaction_id text, outcome text)
  language plpgsql security definer set search_path = public, pg_temp
  set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
  declare
    v_digest text := encode(sha256(convert_to(p_kind || '|' || p_input, 'UTF8')), 'hex');
    v_known ledger_transaction%rowtype;
    v_locked integer;
    v_short integer;
  begin
    if coalesce(array_length(p_accounts, 1), 0) < 2 or array_length(p_accounts, 1) <>
      array_length(p_amounts, 1)
      or (select count(distinct a) from unnest(p_accounts) as a) <> array_length(p_accounts, 1) then
      raise exception 'a ledger transaction needs two or more different accounts, and an amount for each';
    end if;
    select count(*), count(*) filter (where kind in ('WALLET', 'LEASE') and balance + amount < 0
        or kind = 'RECEIVABLE' and balance + amount > 0) into v_locked, v_short
      from (
        select account.kind, account.balance, line.amount
        from unnest(p_accounts, p_amounts) as line (account_id, amount)
        join ledger_account account on account.id = line.account_id
        order by account.id for no key update of account
      ) as locked;
    if v_locked <> array_length(p_accounts, 1) then
      raise exception 'a ledger transaction names an account that does not exist';
    end if;
    select * into v_known from ledger_transaction where reference = p_reference;
    if found then
      return query select v_known.id, case when v_known.digest = v_digest then 'REPLAYED' else 'MISMATCH' end;
      return;
    end if;
    if v_short > 0 then
      return query select null::text, 'INSUFFICIENT';
      return;
    end if;
    insert into ledger_transaction (id, kind, reference, digest, actor_kind, actor_id, description, reverses)
      values (p_id, p_kind, p_reference, v_digest, p_actor_kind, p_actor_id, p_description, p_reverses)
      on conflict (reference) do nothing;
    if not found then
      return query select t.id, case when t.digest = v_digest then 'REPLAYED' else 'MISMATCH' end
        from ledger_transaction t where t.reference = p_reference;
      return;
    end if;
    with moved as (
      update ledger_account account set balance = account.balance + line.amount
        from unnest(p_accounts, p_amounts, p_entries) as line (account_id, amount, entry_id)
        where account.id = line.account_id
        returning account.id, account.wallet_id, account.bucket, line.amount, account.balance, line.entry_id
    )
    insert into ledger_entry (id, transaction_id, kind, account_id, wallet_id, bucket, amount, balance_after)
      select entry_id, p_id, p_kind, id, wallet_id, bucket, amount, balance from moved order by entry_id;
    return query select p_id, 'POSTED';
  end $$;
`;

/**
 * The check of migration 053. Every statement that adds entries has to balance, so that its own entries are
 * enough: those that a transaction had before are balanced.
 */
const BALANCE = `
  create or replace function ledger_check_sum() returns trigger language plpgsql
  set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
  declare
    v_unbalanced text;
  begin
    if exists (select from (select distinct account_id from added) a
        where not exists (select from ledger_account o where o.id = a.account_id)) then
      raise foreign_key_violation using message = 'a ledger entry names an account that does not exist';
    end if;
    if exists (select from (select distinct transaction_id from added) a
        where not exists (select from ledger_transaction t where t.id = a.transaction_id)) then
      raise foreign_key_violation using message = 'a ledger entry names a transaction that does not exist';
    end if;
    select transaction_id into v_unbalanced from added
      group by transaction_id having sum(amount) <> 0 limit 1;
    if found then
      raise exception 'ledger transaction % does not sum to zero', v_unbalanced;
    end if;
    return null;
  end $$;
`;

/**
 * The sums of migration 053. `date_bin` is faster than `date_trunc`, and sums of bigint are than those of
 * numeric. Days, weeks and months are computed for each wallet and key instead of each row of `base`.
 */
const SUMS = `
  create or replace function usage_add_up() returns trigger language plpgsql as $$
  begin
    with base as materialized (
      select wallet_id, date_bin('1 hour', at, '2000-01-01Z') as hour, key_id, model_name,
        coalesce(pool_id, '') as pool_id, billing_group, source, status, count(*) as requests,
        coalesce(sum(input_tokens), 0)::bigint as input_tokens,
        coalesce(sum(output_tokens), 0)::bigint as output_tokens,
        coalesce(sum(cached_tokens), 0)::bigint as cached_tokens, sum(cost)::bigint as cost
      from added group by 1, 2, 3, 4, 5, 6, 7, 8
    ), keys as materialized (
      select wallet_id, hour, key_id, sum(requests)::bigint as requests,
        coalesce(sum(requests) filter (where status <> 'SUCCEEDED'), 0)::bigint as failed,
        sum(input_tokens)::bigint as input_tokens, sum(output_tokens)::bigint as output_tokens,
        sum(cached_tokens)::bigint as cached_tokens, sum(cost)::bigint as cost
      from base group by 1, 2, 3
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
        select key_id, date_trunc('month', hour, 'UTC'), sum(requests), sum(cost) from keys
        group by 1, 2 order by 1, 2
        on conflict (key_id, month) do update set
          requests = s.requests + excluded.requests, cost = s.cost + excluded.cost
    ), spans as (
      insert into usage_wallet_span as s (width, at, wallet_id, requests, failed, input_tokens, output_tokens,
          cached_tokens, cost)
        select w.width, date_trunc(w.width, k.hour, 'UTC'), k.wallet_id, sum(k.requests), sum(k.failed),
          sum(k.input_tokens), sum(k.output_tokens), sum(k.cached_tokens), sum(k.cost)
        from keys k cross join (values ('DAY'), ('WEEK')) w (width) group by 1, 2, 3 order by 1, 2, 3
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

/** Replaces the functions. Reads no rows. */
export class ShortChecks extends Migration {
  override up(): void {
    for (const part of [LOCK_MONEY, POSTS, BALANCE, SUMS]) this.addSql(part);
  }
}
