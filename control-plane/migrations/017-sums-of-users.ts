/**
 * Creates daily and weekly sums by wallet, and an index that counts ledger entries, for queries over all
 * users.
 */
import { Migration } from '@mikro-orm/migrations';

/** The primary key starts with the time, because the sums are read for all wallets at once. */
const SPANS = `
  create table usage_wallet_span (
    width text not null check (width in ('DAY', 'WEEK')),
    at timestamptz not null,
    wallet_id text not null,
    requests bigint not null,
    failed bigint not null,
    input_tokens bigint not null,
    output_tokens bigint not null,
    cost bigint not null,
    primary key (width, at, wallet_id)
  ) with (fillfactor = 80);
`;

/**
 * Sums up the existing rows. The lock prevents new rows until the trigger exists; `work_mem` is raised for
 * summing up millions of rows.
 */
const FILLING = `
  lock table usage_entry in share row exclusive mode;
  set local work_mem = '128MB';
  insert into usage_wallet_span
    select 'DAY', date_trunc('day', hour, 'UTC'), wallet_id, sum(requests),
      coalesce(sum(requests) filter (where status <> 'SUCCEEDED'), 0), sum(input_tokens), sum(output_tokens),
      sum(cost)
    from usage_hour group by 2, 3;
  insert into usage_wallet_span
    select 'WEEK', date_trunc('week', at, 'UTC'), wallet_id, sum(requests), sum(failed), sum(input_tokens),
      sum(output_tokens), sum(cost)
    from usage_wallet_span group by 2, 3;
  reset work_mem;
`;

/** Adds a batch of new rows to the sums; sorted, so that concurrent batches cannot deadlock. */
const ADDING = `
  create function usage_add_up_spans() returns trigger language plpgsql as $$
  begin
    insert into usage_wallet_span as s (width, at, wallet_id, requests, failed, input_tokens, output_tokens,
        cost)
      select w.width, date_trunc(w.width, r.at, 'UTC'), r.wallet_id, count(*),
        count(*) filter (where r.status <> 'SUCCEEDED'), coalesce(sum(r.input_tokens), 0),
        coalesce(sum(r.output_tokens), 0), sum(r.cost)
      from added r cross join (values ('DAY'), ('WEEK')) w (width) group by 1, 2, 3 order by 1, 2, 3
      on conflict (width, at, wallet_id) do update set requests = s.requests + excluded.requests,
        failed = s.failed + excluded.failed, input_tokens = s.input_tokens + excluded.input_tokens,
        output_tokens = s.output_tokens + excluded.output_tokens, cost = s.cost + excluded.cost;
    return null;
  end $$;
  create trigger usage_entry_wallet_spans after insert on usage_entry referencing new table as added
    for each statement execute function usage_add_up_spans();
`;

const LEDGER_COUNT = `
  create index ledger_entry_kind on ledger_entry (kind) where bucket is not null;
`;

/** Creates the sums and the index. */
export class SumsOfUsers extends Migration {
  override up(): void {
    for (const part of [SPANS, FILLING, ADDING, LEDGER_COUNT]) this.addSql(part);
  }
}
