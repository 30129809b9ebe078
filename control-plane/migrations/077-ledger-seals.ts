/**
 * Creates what the incremental ledger check remembers: ranges of the ledger and days of the usage log that
 * were checked, each with a digest of its rows, and the balances and journal positions at the end of the
 * checked range.
 */
import { Migration } from '@mikro-orm/migrations';

const TABLES = `
  create table check_segment (
    upper_seq bigint primary key,
    lower_seq bigint not null check (lower_seq < upper_seq),
    entries bigint not null,
    digest text not null,
    sealed_at timestamptz not null default clock_timestamp(),
    compared_at timestamptz not null default clock_timestamp()
  );
  create index check_segment_compared on check_segment (compared_at);
  create table check_candidate (
    id smallint primary key default 1 check (id = 1),
    seq bigint not null,
    noted_at timestamptz not null default clock_timestamp()
  );
  create table check_balance (
    account_id text primary key,
    balance bigint not null
  ) with (fillfactor = 80);
  create table check_journal (
    journal_id text primary key,
    seq bigint not null
  ) with (fillfactor = 80);
  create table check_day (
    day date primary key,
    requests bigint not null,
    cost bigint not null,
    digest text not null,
    compared_at timestamptz not null default clock_timestamp()
  );
`;

/**
 * Digests of rows: the sum of a 64-bit hash of each row, hashed. A transaction belongs to the range of its
 * first entry, and a charge to the range of its transaction. The settings fix the text of times.
 */
const DIGESTS = `
  create function check_segment_digest(p_lower bigint, p_upper bigint)
  returns table (entries bigint, digest text) language sql stable
  set timezone = 'UTC' set datestyle = 'ISO' set search_path = public, pg_temp as $$
    with e as materialized (select * from ledger_entry where seq > p_lower and seq <= p_upper),
    t as materialized (
      select * from ledger_transaction where id in (select transaction_id from e)
        and not exists (select from ledger_entry o where o.transaction_id = id and o.seq <= p_lower)),
    found as (
      select (select count(*) from e) as entries,
        (select coalesce(sum(hashtextextended(row (id, seq, transaction_id, kind, account_id, wallet_id,
          bucket, amount, balance_after, at)::text, 0)), 0) from e) as of_entries,
        (select count(*) || ' ' || coalesce(sum(hashtextextended(row (id, kind, reference, digest,
          actor_kind, actor_id, description, reverses, at)::text, 0)), 0) from t) as of_transactions,
        (select count(*) || ' ' || coalesce(sum(hashtextextended(row (c.request_id, c.lease_id, c.journal_id,
          c.seq, c.amount, c.settlement, c.transaction_id)::text, 0)), 0)
          from t join usage_charge c on c.transaction_id = t.id) as of_charges)
    select entries, encode(sha256(convert_to(concat_ws('|', entries, of_entries, of_transactions, of_charges),
      'UTF8')), 'hex') from found
  $$;
  create function check_day_digest(p_day date)
  returns table (requests bigint, cost bigint, digest text) language sql stable
  set timezone = 'UTC' set datestyle = 'ISO' set search_path = public, pg_temp as $$
    select requests, cost, encode(sha256(convert_to(concat_ws('|', requests, cost, hash), 'UTF8')), 'hex')
    from (select count(*) as requests, coalesce(sum(cost), 0)::bigint as cost,
        coalesce(sum(hashtextextended(row (request_id, id, at, recorded_at, node_id, key_id, wallet_id,
          pool_id, billing_group, source, model_name, family, route_id, base_price, ratio, cost, input_tokens,
          output_tokens, cached_tokens, reasoning_tokens, status, outcome, http_status, error_code, streamed,
          latency_ms, ttft_ms, ip, losses_in_answer, attempts, attempts_omitted, repeats)::text, 0)), 0)
          as hash
      from usage_entry
      where at >= p_day::timestamptz and at < p_day::timestamptz + interval '1 day') found
  $$;
`;

/** Creates the tables and functions. */
export class LedgerSeals extends Migration {
  override up(): void {
    for (const part of [TABLES, DIGESTS]) this.addSql(part);
  }
}
