/**
 * Mends the digest of ledger ranges, and the start of the export to ClickHouse: both begin anew with the next
 * run of their jobs.
 */
import { Migration } from '@mikro-orm/migrations';

/**
 * The function of migration 077, whose `id` named the wrong table: a transaction counted in each range that
 * has entries of it, and each digest read the whole ledger before its range. Ranges are sealed again.
 */
const DIGEST = `
  create or replace function check_segment_digest(p_lower bigint, p_upper bigint)
  returns table (entries bigint, digest text) language sql stable
  set timezone = 'UTC' set datestyle = 'ISO' set search_path = public, pg_temp as $$
    with e as materialized (select * from ledger_entry where seq > p_lower and seq <= p_upper),
    t as materialized (
      select x.* from ledger_transaction x where x.id in (select transaction_id from e)
        and not exists (select from ledger_entry o where o.transaction_id = x.id and o.seq <= p_lower)),
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
  delete from check_segment;
  delete from check_candidate;
  delete from check_balance;
  delete from check_journal;
  delete from check_day;
`;

/** Rows may be missing in a table that was filled before. Nothing reads `activated_at`. */
const EXPORT = `
  update usage_export set is_active = false, is_complete = false;
  alter table usage_export drop column activated_at;
`;

/** Replaces the function, and lets checks and export start again. */
export class MendedChecks extends Migration {
  override up(): void {
    for (const part of [DIGEST, EXPORT]) this.addSql(part);
  }
}
