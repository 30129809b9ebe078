/** The state of the export in PostgreSQL, which all instances of the control plane share. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, queryOne, sql, toDate } from '../database/sql.ts';

/** An outbox that nobody has read for this time is deleted; the next export starts with a rebuild. */
const ABANDONED_DAYS = 3;

/** State of the export. Times of the log are texts, because a Date would lose microseconds. */
export interface ExportState {
  /** Whether writers fill the outbox. */
  isActive: boolean;
  table: string;
  /** Whether the table has all rows but those of the outbox. */
  isComplete: boolean;
  /** Last row of the log that the rebuild has copied. */
  rebuilt: { at: string; id: string };
  /**
   * Time from which requests may be missing in ClickHouse, in ms since 1970; null if the outbox is empty, or
   * if its oldest batch is older than two minutes: then the outbox may be too long to look through. All
   * requests before it that were settled when the state was read are there.
   */
  missingFromMs: number | null;
  /** Age of the oldest batch in the outbox, in seconds; 0 without one. */
  behindSeconds: number;
  comparedAt: Date | null;
  /** Days whose sums differed from the ledger at the last comparison, after their repair. */
  differingDays: number;
  /** End of the months that the log has dropped, as a text of PostgreSQL; null if none was dropped. */
  droppedUntil: string | null;
}

/** The state; undefined before the first export. */
export async function readState(em: EntityManager): Promise<ExportState | undefined> {
  const row = await queryOne<StateRow>(
    em,
    sql`select *, rebuilt_at::text as exact_at, compared_at::text as compared,
      coalesce((select extract(epoch from clock_timestamp() - written_at) from usage_outbox
        order by position limit 1), 0)::float8 as behind,
      (select floor(extract(epoch from min(r.at)) * 1000)::float8 from usage_outbox o
        cross join unnest(o.ats) as r (at)
        where (select written_at from usage_outbox order by position limit 1) > now() - interval '2 minutes'
      ) as missing_from,
      (select max(upper_at)::text from usage_partition where dropped_at is not null) as dropped_until
      from usage_export`,
  );
  return (
    row && {
      isActive: row.is_active,
      table: row.table_name,
      isComplete: row.is_complete,
      rebuilt: { at: row.exact_at, id: row.rebuilt_id },
      missingFromMs: row.missing_from,
      behindSeconds: Math.max(0, row.behind),
      comparedAt: row.compared === null ? null : toDate(row.compared),
      differingDays: row.differing_days,
      droppedUntil: row.dropped_until,
    }
  );
}

interface StateRow {
  is_active: boolean;
  table_name: string;
  is_complete: boolean;
  exact_at: string;
  rebuilt_id: string;
  missing_from: number | null;
  behind: number;
  compared: string | null;
  differing_days: number;
  dropped_until: string | null;
}

/** Whether this holder may export for the next `seconds`; at most one holder may. */
export async function takeTurn(em: EntityManager, holder: string, seconds: number): Promise<boolean> {
  await query(
    em,
    sql`insert into usage_export (is_active, table_name, activated_xid)
      values (false, 'none', pg_current_xact_id()) on conflict do nothing`,
  );
  const rows = await query(
    em,
    sql`update usage_export set holder = ${holder},
        held_until = clock_timestamp() + ${seconds} * interval '1 second'
      where holder = ${holder} or held_until < clock_timestamp() returning id`,
  );
  return rows.length > 0;
}

/** Lets another holder export at once. */
export async function giveTurn(em: EntityManager, holder: string): Promise<void> {
  await query(em, sql`update usage_export set held_until = '-infinity' where holder = ${holder}`);
}

/** Larger than every transaction: the activation was not finished, see `oldWriters`. */
const NEVER = sql`'18446744073709551615'::xid8`;

/**
 * Fills a new table from now on: writers fill the outbox, and the rebuild starts with the oldest row. A
 * transaction that writes the log may begin after the first update and still not see it. A second update
 * therefore takes a transaction number that is higher than those of all such writers.
 */
export async function activate(em: EntityManager, table: string): Promise<void> {
  await query(em, sql`delete from usage_export_day`);
  await query(
    em,
    sql`update usage_export set is_active = true, table_name = ${table}, is_complete = false,
      activated_xid = ${NEVER}, rebuilt_at = '-infinity', rebuilt_id = '', compared_at = null,
      differing_days = 0`,
  );
  await query(
    em,
    sql`update usage_export set activated_xid = pg_current_xact_id() where table_name = ${table}`,
  );
}

/**
 * Whether every transaction that could have written rows past the outbox has ended. `restart` means that the
 * activation was not finished, or that the counter of transactions was reset, as by a restored dump.
 */
export async function oldWriters(em: EntityManager): Promise<'none' | 'some' | 'restart'> {
  const row = await queryOne<{ ended: boolean; reset: boolean }>(
    em,
    sql`select pg_snapshot_xmin(pg_current_snapshot()) > activated_xid as ended,
      pg_snapshot_xmax(pg_current_snapshot()) <= activated_xid as reset from usage_export`,
  );
  if (row?.reset) return 'restart';
  return row?.ended ? 'none' : 'some';
}

/** Stores how far the rebuild of this table has come. */
export async function noteRebuilt(
  em: EntityManager,
  table: string,
  { last, isEnd }: { last: { at: string; id: string } | null; isEnd: boolean },
): Promise<void> {
  await query(
    em,
    sql`update usage_export set is_complete = ${isEnd},
      rebuilt_at = coalesce(${last?.at ?? null}::timestamptz, rebuilt_at),
      rebuilt_id = coalesce(${last?.id ?? null}, rebuilt_id) where table_name = ${table} and is_active`,
  );
}

/** Stores the result of a comparison. */
export async function noteCompared(em: EntityManager, table: string, differingDays: number): Promise<void> {
  await query(
    em,
    sql`update usage_export set compared_at = clock_timestamp(), differing_days = ${differingDays}
      where table_name = ${table}`,
  );
}

/** Stops an export that nobody has read for days, so that its outbox does not fill the disk. */
export async function stopAbandonedExport(em: EntityManager): Promise<boolean> {
  const stopped = await query(
    em,
    sql`update usage_export set is_active = false, is_complete = false
      where is_active and exists (select from usage_outbox
        where written_at < clock_timestamp() - ${ABANDONED_DAYS} * interval '1 day') returning id`,
  );
  await query(em, sql`delete from usage_outbox where not exists (select from usage_export where is_active)`);
  return stopped.length > 0;
}
