/**
 * Compares the sums of each UTC day in ClickHouse with the ledger, to the micro-dollar, and exports days
 * again that differ. Sums of the ledger are kept for days without new requests, so that a comparison is
 * short.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, queryOne, queryRow, sql } from '../database/sql.ts';
import { readDay } from './outbox.ts';
import type { ExportState } from './state.ts';
import { textIn } from './fields.ts';
import { ch, tableOf, textOf, timeOf } from './statement.ts';
import { partitionOf } from './table.ts';
import type { ClickHouseStore } from './store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Number of requests and their charges in micro-USD. */
interface DaySums {
  requests: string;
  cost: string;
}

interface ComparisonParts {
  /** A new database session. */
  em(): EntityManager;
  store: ClickHouseStore;
  state: Pick<ExportState, 'table' | 'droppedUntil'>;
  /** Called before each day: exports what is due. False if another instance exports now. */
  proceed(): Promise<boolean>;
}

/**
 * Compares the days before `until`, and returns those that differ even after they were exported again;
 * undefined if another instance has begun to export. Leaves out days with requests in the outbox.
 */
export async function compareDays(parts: ComparisonParts, until: Date): Promise<string[] | undefined> {
  await deleteDropped(parts);
  const differing: string[] = [];
  for (const day of await daysToCompare(parts, until)) {
    if (!(await parts.proceed())) return undefined;
    const found = await exportedSums(parts, day);
    if (sameSums(await keptSums(parts.em(), day), found)) continue;
    const equal = await equalSums(parts, day, found);
    if (equal) await keepSums(parts.em(), day, equal);
    else if (!(await isPending(parts.em(), day))) differing.push(day);
  }
  return differing;
}

/**
 * The sums of a day on which ledger and ClickHouse agree, after its rows were exported again if need be;
 * undefined if they still differ. Rows are first added, because those of a deleted day are missing on pages.
 */
async function equalSums(parts: ComparisonParts, day: string, found: DaySums): Promise<DaySums | undefined> {
  const agree = async (sums: DaySums): Promise<boolean> => sameSums(await ledgerSums(parts.em(), day), sums);
  if (await agree(found)) return found;
  const added = await exportAgain(parts, day);
  if (await agree(added)) return added;
  await dropDay(parts, day);
  const replaced = await exportAgain(parts, day);
  return (await agree(replaced)) ? replaced : undefined;
}

function sameSums(left: DaySums | undefined, right: DaySums): boolean {
  return left !== undefined && left.requests === right.requests && left.cost === right.cost;
}

/** Drops the days whose rows the log has dropped. */
async function deleteDropped({ em, store, state: { table, droppedUntil } }: ComparisonParts): Promise<void> {
  if (droppedUntil === null) return;
  const days = await store.slowRows(
    ch`select distinct toString(toDate(at)) as day from ${tableOf(table)}
      where toDate(at) < toDate(${timeOf(droppedUntil)})`,
  );
  for (const row of days) await dropDay({ store, state: { table } }, textIn(row, 'day'));
  await query(em(), sql`delete from usage_export_day where day < ${droppedUntil}::timestamptz::date`);
}

/** Drops the rows of a day, which is a partition. */
async function dropDay(
  { store, state: { table } }: { store: ClickHouseStore; state: { table: string } },
  day: string,
): Promise<void> {
  await store.command(ch`alter table ${tableOf(table)} drop partition id ${partitionOf(day)}`);
}

/** Number and cost of the rows of a day in ClickHouse. */
async function exportedSums({ store, state: { table } }: ComparisonParts, day: string): Promise<DaySums> {
  const [row] = await store.slowRows(
    ch`select toString(count()) as requests, toString(sum(cost)) as cost
      from ${tableOf(table)} final where ${ofDay(day)}`,
  );
  return sumsOf(row);
}

const ofDay = (day: string) => ch`toDate(at) = toDate(${textOf(day)})`;

function sumsOf(row: Readonly<Record<string, unknown>> | undefined): DaySums {
  return { requests: String(row?.['requests']), cost: String(row?.['cost']) };
}

/** Days of the log or of the export that ended before `until`, without those in the outbox. */
async function daysToCompare({ em, store, state }: ComparisonParts, until: Date): Promise<string[]> {
  const { first } = await queryRow<{ first: string | null }>(
    em(),
    sql`select (select min(at) at time zone 'UTC' from usage_entry)::date::text as first`,
  );
  const [row] = await store.slowRows(
    ch`select toString(min(toDate(at))) as first, toString(count()) as found from ${tableOf(state.table)}`,
  );
  const exported = Number(row?.['found']) > 0 ? [String(row?.['first'])] : [];
  const [start] = [...exported, ...(first === null ? [] : [first])].toSorted();
  if (start === undefined) return [];
  const days: string[] = [];
  for (let at = Date.parse(start); at + DAY_MS <= until.getTime(); at += DAY_MS)
    days.push(new Date(at).toISOString().slice(0, 10));
  const pending = new Set(await pendingDays(em()));
  return days.filter((day) => !pending.has(day));
}

/** UTC days with requests in the outbox. */
async function pendingDays(em: EntityManager): Promise<string[]> {
  const { pending } = await queryRow<{ pending: string[] }>(
    em,
    sql`select array(select distinct (r.at at time zone 'UTC')::date::text from usage_outbox o
      cross join unnest(o.ats) as r (at)) as pending`,
  );
  return pending;
}

async function isPending(em: EntityManager, day: string): Promise<boolean> {
  return (await pendingDays(em)).includes(day);
}

function keptSums(em: EntityManager, day: string): Promise<DaySums | undefined> {
  return queryOne<DaySums>(
    em,
    sql`select requests::text, cost::text from usage_export_day where day = ${day}::date`,
  );
}

/** Requests of the log, and what the ledger charged for them. */
async function ledgerSums(em: EntityManager, day: string): Promise<DaySums> {
  return queryRow<DaySums>(
    em,
    sql`select count(*)::text as requests, coalesce(sum(c.amount), 0)::text as cost
      from usage_entry u left join usage_charge c on c.request_id = u.request_id
      where u.at >= ${day}::timestamp at time zone 'UTC'
        and u.at < (${day}::date + 1)::timestamp at time zone 'UTC'`,
  );
}

async function keepSums(em: EntityManager, day: string, { requests, cost }: DaySums): Promise<void> {
  await query(
    em,
    sql`insert into usage_export_day (day, requests, cost) values (${day}, ${requests}, ${cost})
      on conflict (day) do update set requests = excluded.requests, cost = excluded.cost`,
  );
}

/** Adds all rows of a day to ClickHouse, where they replace those that it has, and returns their sums. */
async function exportAgain(parts: ComparisonParts, day: string): Promise<DaySums> {
  const { em, store, state } = parts;
  for await (const lines of readDay(em, day)) await store.insert(state.table, lines);
  return exportedSums(parts, day);
}
