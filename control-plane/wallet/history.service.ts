/**
 * The history of a wallet: entries that are not usage, and usage rolled up by day and bucket. A line has the
 * sequence number of its newest entry, by which the list is sorted.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { readingOf } from '../database/page.ts';
import type { RowPage } from '../database/page.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { entriesBySeq } from './entries.service.ts';
import type { EntryConditions, EntryView } from './entries.service.ts';
import type { Bucket } from './ledger.ts';
import type { LedgerKind } from './wallet.types.ts';

/** Usage of one day (UTC) that one bucket paid. Amounts are in micro-USD. */
export interface UsageDay {
  /** Start of the day. */
  day: Date;
  bucket: Bucket;
  amount: Micros;
  /** Balance of the bucket after the newest entry of the day, including leases. */
  balanceAfter: Micros;
  entryCount: number;
}

/** A line of the history: either an entry or a day of usage. */
export interface HistoryLine {
  seq: number;
  entry: EntryView | null;
  usage: UsageDay | null;
}

/** The largest sequence number. */
const SEQ_MAX = Number.MAX_SAFE_INTEGER;

/** A page of the history, newest first. `kinds`: only entries of these kinds; null for all. */
export async function historyPage(
  em: EntityManager,
  { walletId, kinds }: { walletId: string; kinds: readonly LedgerKind[] | null },
  page: RowPage,
): Promise<HistoryLine[]> {
  const { orderSql } = readingOf(page);
  const parts = [
    ...(!kinds || kinds.includes('USAGE') ? [summedDays(walletId, page), openDays(walletId, page)] : []),
    movements({ walletId, kinds }, page),
  ];
  const lines = parts.reduce((left, right) => sql`${left} union all ${right}`);
  const rows = await query<LineRow>(
    em,
    sql`select * from (${lines}) line order by seq ${orderSql} limit ${page.limit}`,
  );
  const unknown = rows.filter((row) => row.balance_after === null).map((row) => Number(row.seq));
  const entries = unknown.length > 0 ? await entriesBySeq(em, walletId, unknown) : undefined;
  return rows.map((row) => toLine(row, entries?.get(Number(row.seq))));
}

/** Which entries the usage of a day consists of; undefined for a day without usage that is summed up. */
export async function entriesOfDay(
  em: EntityManager,
  { walletId, day, bucket }: { walletId: string; day: Date; bucket: Bucket },
): Promise<EntryConditions | undefined> {
  const date = day.toISOString().slice(0, 'YYYY-MM-DD'.length);
  const usage: EntryConditions = { walletId, bucket, kinds: ['USAGE'] };
  const row = await queryOne<{ first: string | null; last: string | null; open: string; is_next: boolean }>(
    em,
    sql`select d.first_seq as first, d.last_seq as last, s.next_seq as open,
        coalesce(s.day + 1 = ${date}::date, false) as is_next
      from wallet_usage_seal s left join wallet_usage_day d
        on d.wallet_id = ${walletId} and d.bucket = ${bucket} and d.day = ${date}::date
      where d.day is not null or s.day is null or s.day < ${date}::date`,
  );
  if (!row) return undefined;
  const { first, last } = row;
  if (first !== null && last !== null) return { ...usage, seqs: { from: Number(first), to: Number(last) } };
  const from = row.is_next ? new Date(0) : new Date(`${date}T00:00:00Z`);
  const range = { from, to: new Date(Date.parse(`${date}T00:00:00Z`) + DAY_MS) };
  return { ...usage, range, seqs: { from: Number(row.open), to: SEQ_MAX } };
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Days that are summed up. */
function summedDays(walletId: string, page: RowPage): Statement {
  return sql`(select last_seq as seq, day::text as day, bucket, entries, amount, balance_after
    from wallet_usage_day where wallet_id = ${walletId} and ${beyond(sql`last_seq`, page)}
    ${firstRows(sql`last_seq`, page)})`;
}

/** Days that are not summed up: today, and until the job has run the days before. */
function openDays(walletId: string, page: RowPage): Statement {
  return sql`(select max(seq) as seq, day::text as day, bucket, count(*) as entries, sum(amount) as amount,
      null::bigint as balance_after
    from (select bucket, seq, amount,
        greatest((at at time zone 'UTC')::date, (select s.day + 1 from wallet_usage_seal s)) as day
      from ledger_entry where wallet_id = ${walletId} and bucket is not null and kind = 'USAGE'
        and seq >= (select s.next_seq from wallet_usage_seal s)) e
    group by day, bucket having ${beyond(sql`max(seq)`, page)})`;
}

/** Entries that are not usage. The conditions repeat those of the index. */
function movements({ walletId, kinds }: EntryConditions & { walletId: string }, page: RowPage): Statement {
  const ofKinds = kinds ? sql`kind = any(${[...kinds]}::text[])` : sql`true`;
  return sql`(select seq, null::text as day, bucket, 1::bigint as entries, amount::numeric as amount,
      null::bigint as balance_after
    from ledger_entry where wallet_id = ${walletId} and bucket is not null
      and kind not in ('USAGE', 'LEASE_GRANT', 'LEASE_RETURN') and ${ofKinds} and ${beyond(sql`seq`, page)}
    ${firstRows(sql`seq`, page)})`;
}

function beyond(column: Statement, page: RowPage): Statement {
  const [seq] = page.from ?? [];
  return seq === undefined ? sql`true` : sql`${column} ${readingOf(page).beyondSql} ${seq}::bigint`;
}

function firstRows(column: Statement, page: RowPage): Statement {
  return sql`order by ${column} ${readingOf(page).orderSql} limit ${page.limit}`;
}

interface LineRow {
  seq: string;
  /** Null for an entry. */
  day: string | null;
  bucket: Bucket;
  entries: string;
  amount: string;
  balance_after: string | null;
}

/** `newest`: the newest entry of the line; undefined for a day that is summed up. */
function toLine({ day, ...row }: LineRow, newest: EntryView | undefined): HistoryLine {
  const seq = Number(row.seq);
  if (day === null) return { seq, entry: newest ?? null, usage: null };
  const usage: UsageDay = {
    day: new Date(`${day}T00:00:00Z`),
    bucket: row.bucket,
    amount: BigInt(row.amount),
    balanceAfter: row.balance_after === null ? (newest?.balanceAfter ?? 0n) : BigInt(row.balance_after),
    entryCount: Number(row.entries),
  };
  return { seq, entry: null, usage };
}
