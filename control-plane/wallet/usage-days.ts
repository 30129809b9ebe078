/**
 * Sums of usage by day, wallet and bucket. A job sums each day up once, after its end; the entries of later
 * days are summed when they are read. A day is a range of sequence numbers: it ends before the first entry
 * of a later day (UTC).
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { inTransaction, query, queryOne, queryRow, sql } from '../database/sql.ts';
import { INTERNAL } from './entries.service.ts';

/**
 * A day is summed up when an entry of a later day is at least this old, in minutes. Transactions take
 * seconds, so none adds an entry to the day later.
 */
const SETTLED_MINUTES = 10;
/** Maximum number of days that one run sums up; the next run continues. */
const DAYS_MAX = 1000;

/** Job: sums up the days that have ended. */
export async function sumUpUsageDays(em: EntityManager): Promise<void> {
  for (let days = 0; days < DAYS_MAX; days += 1)
    if (!(await inTransaction(em, (inner) => sumUpNextDay(inner)))) return;
}

/** Sums up the first day without sums; false if it has not ended. */
async function sumUpNextDay(em: EntityManager): Promise<boolean> {
  // The lock lets two control planes sum up one day after the other.
  const { lower } = await queryRow<{ lower: string }>(
    em,
    sql`select next_seq::text as lower from wallet_usage_seal for update`,
  );
  const first = await queryOne<{ day: string }>(
    em,
    sql`select (at at time zone 'UTC')::date::text as day from ledger_entry
      where seq >= ${lower}::bigint order by seq limit 1`,
  );
  if (!first) return false;
  const later = await queryOne<{ upper: string }>(
    em,
    sql`select seq::text as upper from ledger_entry
      where seq >= ${lower}::bigint and at >= (${first.day}::date + 1)::timestamp at time zone 'UTC'
        and at < clock_timestamp() - ${SETTLED_MINUTES} * interval '1 minute'
      order by seq limit 1`,
  );
  if (!later) return false;
  await insertDay(em, { day: first.day, lower, upper: later.upper });
  // The range begins where the last one ended: a control plane of the release before writes none.
  await query(
    em,
    sql`insert into wallet_usage_range (lower_seq, upper_seq, day)
      select coalesce(max(upper_seq), 0), ${later.upper}::bigint, ${first.day}::date from wallet_usage_range`,
  );
  await query(em, sql`update wallet_usage_seal set day = ${first.day}::date, next_seq = ${later.upper}`);
  return true;
}

interface DayRange {
  /** "2026-11-20" */
  day: string;
  /** First sequence number of the day. */
  lower: string;
  /** First sequence number after the day. */
  upper: string;
}

/** The balance continues from the last summed day, so that no entry is read twice. */
async function insertDay(em: EntityManager, { day, lower, upper }: DayRange): Promise<void> {
  await query(
    em,
    sql`insert into wallet_usage_day
        (wallet_id, bucket, day, first_seq, last_seq, entries, amount, balance_after)
      select d.wallet_id, d.bucket, ${day}::date, d.first_seq, d.last_seq, d.entries, d.amount,
        coalesce(p.balance_after, 0) + (select coalesce(sum(n.amount), 0) from ledger_entry n
          where n.wallet_id = d.wallet_id and n.bucket = d.bucket and n.seq > coalesce(p.last_seq, 0)
            and n.seq <= d.last_seq and n.kind <> all(${[...INTERNAL]}::text[]))
      from (select wallet_id, bucket, min(seq) as first_seq, max(seq) as last_seq, count(*) as entries,
          sum(amount) as amount
        from ledger_entry where seq >= ${lower}::bigint and seq < ${upper}::bigint and kind = 'USAGE'
          and wallet_id is not null and bucket is not null
        group by wallet_id, bucket) d
      left join lateral (select s.last_seq, s.balance_after from wallet_usage_day s
        where s.wallet_id = d.wallet_id and s.bucket = d.bucket order by s.day desc limit 1) p on true`,
  );
}
