/** Adds the input tokens that were read from a cache to the sums of the usage log. */
import { Migration } from '@mikro-orm/migrations';

/** The columns; the lock prevents new rows until the triggers fill them. */
const COLUMNS = `
  lock table usage_entry in share row exclusive mode;
  alter table usage_hour add column cached_tokens bigint not null default 0;
  alter table usage_hour_all add column cached_tokens bigint not null default 0;
  alter table usage_wallet_span add column cached_tokens bigint not null default 0;
`;

/** Sums up the rows that the log still has. */
const FILLING = `
  set local work_mem = '128MB';
  update usage_hour s set cached_tokens = e.cached from (
    select wallet_id, date_trunc('hour', at, 'UTC') as hour, key_id, model_name,
      coalesce(pool_id, '') as pool_id, billing_group, source, status, sum(cached_tokens) as cached
    from usage_entry where cached_tokens > 0 group by 1, 2, 3, 4, 5, 6, 7, 8) e
  where (s.wallet_id, s.hour, s.key_id, s.model_name, s.pool_id, s.billing_group, s.source, s.status) =
    (e.wallet_id, e.hour, e.key_id, e.model_name, e.pool_id, e.billing_group, e.source, e.status);
  update usage_hour_all s set cached_tokens = e.cached from (
    select hour, model_name, pool_id, billing_group, source, status, sum(cached_tokens) as cached
    from usage_hour where cached_tokens > 0 group by 1, 2, 3, 4, 5, 6) e
  where (s.hour, s.model_name, s.pool_id, s.billing_group, s.source, s.status) =
    (e.hour, e.model_name, e.pool_id, e.billing_group, e.source, e.status);
  update usage_wallet_span s set cached_tokens = e.cached from (
    select width, date_trunc(width, hour, 'UTC') as at, wallet_id, sum(cached_tokens) as cached
    from usage_hour cross join (values ('DAY'), ('WEEK')) w (width)
    where cached_tokens > 0 group by 1, 2, 3) e
  where (s.width, s.at, s.wallet_id) = (e.width, e.at, e.wallet_id);
  reset work_mem;
`;

/** The triggers of the sums with the new column; sorted, so that concurrent batches cannot deadlock. */
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
    insert into usage_hour_all as s (hour, model_name, pool_id, billing_group, source, status,
        requests, input_tokens, output_tokens, cached_tokens, cost)
      select date_trunc('hour', at, 'UTC'), model_name, coalesce(pool_id, ''), billing_group, source, status,
        count(*), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
        coalesce(sum(cached_tokens), 0), sum(cost)
      from added group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
      on conflict (hour, model_name, pool_id, billing_group, source, status) do update set
        requests = s.requests + excluded.requests, input_tokens = s.input_tokens + excluded.input_tokens,
        output_tokens = s.output_tokens + excluded.output_tokens,
        cached_tokens = s.cached_tokens + excluded.cached_tokens, cost = s.cost + excluded.cost;
    return null;
  end $$;

  create or replace function usage_add_up_spans() returns trigger language plpgsql as $$
  begin
    insert into usage_wallet_span as s (width, at, wallet_id, requests, failed, input_tokens, output_tokens,
        cached_tokens, cost)
      select w.width, date_trunc(w.width, r.at, 'UTC'), r.wallet_id, count(*),
        count(*) filter (where r.status <> 'SUCCEEDED'), coalesce(sum(r.input_tokens), 0),
        coalesce(sum(r.output_tokens), 0), coalesce(sum(r.cached_tokens), 0), sum(r.cost)
      from added r cross join (values ('DAY'), ('WEEK')) w (width) group by 1, 2, 3 order by 1, 2, 3
      on conflict (width, at, wallet_id) do update set requests = s.requests + excluded.requests,
        failed = s.failed + excluded.failed, input_tokens = s.input_tokens + excluded.input_tokens,
        output_tokens = s.output_tokens + excluded.output_tokens,
        cached_tokens = s.cached_tokens + excluded.cached_tokens, cost = s.cost + excluded.cost;
    return null;
  end $$;
`;

/** Adds the columns, fills them, and replaces the triggers' functions. */
export class CachedTokens extends Migration {
  override up(): void {
    for (const part of [COLUMNS, FILLING, ADDING]) this.addSql(part);
  }
}
