/**
 * The sealed part of ledger and usage log: ranges of ledger entries and days that a check has covered, each
 * with a digest of its rows. A range is sealed once; afterwards only its digest is compared.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, queryOne, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import type { Checked } from './open-range.ts';

/**
 * A range is sealed when its last entry is at least this old, in minutes. Transactions take seconds, so none
 * adds an entry with a lower number later.
 */
const SETTLED_MINUTES = 10;
/** Days of the usage log get no rows this many days after their end; see `claimRequests`. */
const CLOSED_DAYS = 4;

/** Where the checked range ends; undefined before the first range was sealed. */
export async function readChecked(em: EntityManager): Promise<Checked | undefined> {
  const row = await queryOne<{ seq: string; sealed_at: string; day: string }>(
    em,
    sql`select upper_seq::text as seq, sealed_at::text,
        coalesce((select max(day) + 1 from check_day), '-infinity')::text as day
      from check_segment order by upper_seq desc limit 1`,
  );
  return row && { seq: row.seq, sealedAt: row.sealed_at, day: row.day };
}

/**
 * Seals what the present check has covered and nobody changes any more. Call it in the transaction of a check
 * that found nothing.
 */
export async function seal(em: EntityManager): Promise<void> {
  const candidate = await queryOne<{ lower: string; upper: string }>(
    em,
    sql`select c.seq::text as upper, coalesce(max(s.upper_seq), 0)::text as lower
      from check_candidate c left join check_segment s on true
      where c.noted_at < clock_timestamp() - ${SETTLED_MINUTES} * interval '1 minute' group by c.seq`,
  );
  if (candidate && BigInt(candidate.upper) > BigInt(candidate.lower)) await sealRange(em, candidate);
  // The candidate of the next range: the newest entry of now.
  await query(
    em,
    sql`insert into check_candidate (seq, noted_at)
        select coalesce(max(seq), 0), clock_timestamp() from ledger_entry
      on conflict (id) do update set seq = excluded.seq, noted_at = excluded.noted_at
        where check_candidate.noted_at < clock_timestamp() - ${SETTLED_MINUTES} * interval '1 minute'`,
  );
  await sealJournals(em);
  await sealDays(em);
}

async function sealRange(
  em: EntityManager,
  { lower, upper }: { lower: string; upper: string },
): Promise<void> {
  await query(
    em,
    sql`insert into check_segment (lower_seq, upper_seq, entries, digest)
      select ${lower}::bigint, ${upper}::bigint, d.entries, d.digest
      from check_segment_digest(${lower}::bigint, ${upper}::bigint) d`,
  );
  await query(
    em,
    sql`insert into check_balance as b (account_id, balance)
        select account_id, sum(amount) from ledger_entry
        where seq > ${lower}::bigint and seq <= ${upper}::bigint group by account_id having sum(amount) <> 0
      on conflict (account_id) do update set balance = b.balance + excluded.balance`,
  );
}

/** Stores the last number of each journal; the check found no gap before it. */
async function sealJournals(em: EntityManager): Promise<void> {
  await query(
    em,
    sql`insert into check_journal as k (journal_id, seq)
        select j.id, s.last from node_journal j left join check_journal k on k.journal_id = j.id
        cross join lateral (select max(seq) as last from (
          select seq from usage_charge where journal_id = j.id and seq > coalesce(k.seq, 0)
          union all select seq from settlement_alarm where journal_id = j.id and node_id = j.node_id
            and kind = 'REJECTED' and seq > coalesce(k.seq, 0)) settled) s
        where s.last is not null
      on conflict (journal_id) do update set seq = excluded.seq`,
  );
}

async function sealDays(em: EntityManager): Promise<void> {
  await query(
    em,
    sql`insert into check_day (day, requests, cost, digest)
      select d.day::date, u.requests, u.cost, u.digest
      from generate_series(
        coalesce((select max(day) + 1 from check_day),
          (select (min(at) at time zone 'UTC')::date from usage_entry))::timestamp,
        (clock_timestamp() at time zone 'UTC') - ${CLOSED_DAYS + 1} * interval '1 day', '1 day') d (day)
      cross join lateral check_day_digest(d.day::date) u`,
  );
}

/**
 * The sealed ranges whose rows have changed: of all ranges, or of those (at most `limit`) that were compared
 * longest ago.
 */
export function brokenRanges(limit?: number): Statement {
  const compared = limit === undefined ? sql`` : sql`order by compared_at limit ${limit}`;
  return sql`select 'entries ' || s.lower_seq + 1 || ' to ' || s.upper_seq as subject,
      'sealed with ' || s.entries || ' entries and digest ' || left(s.digest, 12) || ', now ' || d.entries ||
      ' and ' || left(d.digest, 12) as detail
    from (select * from check_segment ${compared}) s
    cross join lateral check_segment_digest(s.lower_seq, s.upper_seq) d
    where d.digest <> s.digest or d.entries <> s.entries`;
}

/** The sealed days whose rows or hourly sums have changed, without days of dropped months. */
export function brokenDays(limit?: number): Statement {
  const compared = limit === undefined ? sql`` : sql`order by compared_at limit ${limit}`;
  return sql`select 'day ' || s.day as subject, 'sealed with ' || s.requests || ' requests for ' || s.cost ||
      ', now ' || d.requests || ' for ' || d.cost || ', summed up ' || h.requests || ' for ' || h.cost
      as detail
    from (select * from check_day where not exists (select from usage_partition p
      where p.dropped_at is not null and p.upper_at > check_day.day::timestamp at time zone 'UTC'
        and p.lower_at < (check_day.day + 1)::timestamp at time zone 'UTC') ${compared}) s
    cross join lateral check_day_digest(s.day) d
    cross join lateral (select coalesce(sum(requests), 0) as requests, coalesce(sum(cost), 0) as cost
      from usage_hour where hour >= s.day::timestamp at time zone 'UTC'
        and hour < (s.day + 1)::timestamp at time zone 'UTC') h
    where d.digest <> s.digest or h.requests <> s.requests or h.cost <> s.cost`;
}

/** Stores that the ranges and days compared longest ago have been compared now. */
export async function noteCompared(em: EntityManager, limit: number): Promise<void> {
  await query(
    em,
    sql`update check_segment set compared_at = clock_timestamp() where upper_seq in
      (select upper_seq from check_segment order by compared_at limit ${limit})`,
  );
  await query(
    em,
    sql`update check_day set compared_at = clock_timestamp() where day in
      (select day from check_day order by compared_at limit ${limit})`,
  );
}
