/** Sums of whole days and weeks by wallet, and an index that counts the ledger, for what is asked of everybody. */
import { Migration } from '@mikro-orm/migrations';

/** Ordered by time first: they are read for all wallets at once. */
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

/** What rows of a table add; sorted, so that two batches wait for each other in one order. */
const addUp = (rows: string, requests: string): string => `
  insert into usage_wallet_span as s (width, at, wallet_id, requests, failed, input_tokens, output_tokens,
      cost)
    select w.width, date_trunc(w.width, r.at, 'UTC'), r.wallet_id, sum(${requests}),
      coalesce(sum(${requests}) filter (where r.status <> 'SUCCEEDED'), 0), coalesce(sum(r.input_tokens), 0),
      coalesce(sum(r.output_tokens), 0), sum(r.cost)
    from ${rows} r cross join (values ('DAY'), ('WEEK')) w (width) group by 1, 2, 3 order by 1, 2, 3
    on conflict (width, at, wallet_id) do update set requests = s.requests + excluded.requests,
      failed = s.failed + excluded.failed, input_tokens = s.input_tokens + excluded.input_tokens,
      output_tokens = s.output_tokens + excluded.output_tokens, cost = s.cost + excluded.cost;
`;

/** No request may be added between the sums of what is there and the trigger for what comes. */
const ADDING = `
  lock table usage_entry in share row exclusive mode;
  ${addUp('(select *, hour as at from usage_hour)', 'r.requests')}
  create function usage_add_up_spans() returns trigger language plpgsql as $$
  begin
    ${addUp('added', '1')}
    return null;
  end $$;
  create trigger usage_entry_wallet_spans after insert on usage_entry referencing new table as added
    for each statement execute function usage_add_up_spans();
`;

const LEDGER_COUNT = `
  create index ledger_entry_kind on ledger_entry (kind) where bucket is not null;
`;

/** Makes the sums and the index. */
export class SumsOfUsers extends Migration {
  override up(): void {
    for (const part of [SPANS, ADDING, LEDGER_COUNT]) this.addSql(part);
  }
}
