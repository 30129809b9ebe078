/**
 * Compares the summed days of wallets (usage-days.ts) with the ledger, as SQL that selects `subject` and
 * `detail` of each violation.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';

/**
 * The violations in all summed days, or in those (at most `limit`) that were not compared yet or longest ago.
 * For each wallet and bucket, the entries of usage in the range of the day have to give the same number, sum,
 * first and last entry; the balance has to continue from the day before. Ranges have to follow one another.
 */
export function brokenUsageDays(limit?: number): Statement {
  const compared = limit === undefined ? sql`` : sql`${OLDEST_FIRST} limit ${limit}`;
  return sql`
    with ranges as (select *, lag(upper_seq, 1, 0::bigint) over (order by lower_seq) as expected,
        lag(day) over (order by lower_seq) as before from wallet_usage_range),
      chosen as (select * from ranges ${compared})
    ${DIFFERENT_SUMS} union all ${DIFFERENT_BALANCES} union all ${BROKEN_RANGES}`;
}

/** Stores that the days that were not compared yet, or longest ago, have been compared now. */
export async function noteComparedDays(em: EntityManager, limit: number): Promise<void> {
  await query(
    em,
    sql`update wallet_usage_range set compared_at = clock_timestamp() where lower_seq in
      (select lower_seq from wallet_usage_range ${OLDEST_FIRST} limit ${limit})`,
  );
}

const OLDEST_FIRST = sql`order by compared_at nulls first, lower_seq`;

/** A row may have the day of its range, or an earlier one after the day of the range before. */
const DIFFERENT_SUMS = sql`
  select s.wallet_id || ' ' || s.bucket || ' ' || r.day as subject, s.detail
  from chosen r cross join lateral (
    select wallet_id, bucket, 'summed ' || coalesce(d.amount, 0) || ' in ' || coalesce(d.entries, 0)
      || ' entries ' || coalesce(d.first_seq, 0) || ' to ' || coalesce(d.last_seq, 0) || ', the ledger has '
      || coalesce(e.amount, 0) || ' in ' || coalesce(e.entries, 0) || ' entries ' || coalesce(e.first_seq, 0)
      || ' to ' || coalesce(e.last_seq, 0) as detail
    from (select wallet_id, bucket, sum(entries) as entries, sum(amount) as amount, min(day) as first_day,
        max(day) as last_day, min(first_seq) as first_seq, max(last_seq) as last_seq
      from wallet_usage_day where last_seq >= r.lower_seq and last_seq < r.upper_seq group by 1, 2) d
    full join (select wallet_id, bucket, count(*) as entries, sum(amount) as amount, min(seq) as first_seq,
        max(seq) as last_seq
      from ledger_entry where seq >= r.lower_seq and seq < r.upper_seq and kind = 'USAGE'
        and wallet_id is not null and bucket is not null group by 1, 2) e using (wallet_id, bucket)
    where (d.entries, d.amount, d.first_seq, d.last_seq) is distinct from
        (e.entries, e.amount, e.first_seq, e.last_seq)
      or d.last_day > r.day or d.first_day <= r.before) s`;

/** The kinds are those of INTERNAL in entries.service.ts. */
const DIFFERENT_BALANCES = sql`
  select d.wallet_id || ' ' || d.bucket || ' ' || d.day, 'balance ' || d.balance_after || ', the ledger has '
    || coalesce(p.balance_after, 0) + n.amount
  from chosen r
  join wallet_usage_day d on d.last_seq >= r.lower_seq and d.last_seq < r.upper_seq
  left join lateral (select last_seq, balance_after from wallet_usage_day
    where wallet_id = d.wallet_id and bucket = d.bucket and last_seq < d.last_seq
    order by last_seq desc limit 1) p on true
  cross join lateral (select coalesce(sum(amount), 0) as amount from ledger_entry
    where wallet_id = d.wallet_id and bucket = d.bucket and seq > coalesce(p.last_seq, 0)
      and seq <= d.last_seq and kind not in ('LEASE_GRANT', 'LEASE_RETURN')) n
  where d.balance_after <> coalesce(p.balance_after, 0) + n.amount`;

const BROKEN_RANGES = sql`
  select 'day ' || day, 'begins with entry ' || lower_seq || ', the day before ended before ' || expected
    from ranges where lower_seq <> expected
  union all select 'day ' || r.day, 'ends before entry ' || r.upper_seq || ', but days are summed up to '
      || s.next_seq from wallet_usage_range r cross join wallet_usage_seal s where r.upper_seq > s.next_seq
  union all select d.wallet_id || ' ' || d.bucket || ' ' || d.day, 'ends with entry ' || d.last_seq
      || ', but days are summed up to ' || s.next_seq
    from wallet_usage_seal s join wallet_usage_day d on d.last_seq >= s.next_seq`;
