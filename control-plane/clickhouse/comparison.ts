/**
 * Compares the sums of each UTC day in ClickHouse with the ledger, to the micro-dollar, and exports days
 * again that differ. Sums of the ledger are kept for days without new requests, so that a comparison is
 * short.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, queryOne, queryRow, sql } from '../database/sql.ts';
import { readDay } from './outbox.ts';
import type { ExportState } from './state.ts';
import { ch, tableOf, textOf, timeOf } from './statement.ts';
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
  /** Called before each day, so that no other instance begins to export. */
  keepTurn(): Promise<unknown>;
}

/**
 * Compares the days before `until`, and returns those that differ even after they were exported again. Leaves
 * out days with requests in the outbox. Nothing else may export meanwhile.
 */
export async function compareDays(parts: ComparisonParts, until: Date): Promise<string[]> {
  await deleteDropped(parts);
  const exported = await exportedDays(parts);
  const differing: string[] = [];
  for (const day of await daysToCompare(parts.em(), until, exported)) {
    await parts.keepTurn();
    const found = exported.get(day) ?? NOTHING;
    if (sameSums(await keptSums(parts.em(), day), found)) continue;
    const fresh = await ledgerSums(parts.em(), day);
    if (sameSums(fresh, found) || sameSums(fresh, await exportAgain(parts, day)))
      await keepSums(parts.em(), day, fresh);
    else differing.push(day);
  }
  return differing;
}

const NOTHING: DaySums = { requests: '0', cost: '0' };

function sameSums(left: DaySums | undefined, right: DaySums): boolean {
  return left !== undefined && left.requests === right.requests && left.cost === right.cost;
}

/** Deletes rows of months that the log has dropped. */
async function deleteDropped({ em, store, state: { table, droppedUntil } }: ComparisonParts): Promise<void> {
  if (droppedUntil === null) return;
  const old = ch`at < ${timeOf(droppedUntil)}`;
  const [row] = await store.slowRows(ch`select count() as found from ${tableOf(table)} where ${old}`);
  if (Number(row?.['found']) > 0) await store.command(ch`delete from ${tableOf(table)} where ${old}`);
  await query(em(), sql`delete from usage_export_day where day < ${droppedUntil}::timestamptz::date`);
}

async function exportedDays({ store, state: { table } }: ComparisonParts): Promise<Map<string, DaySums>> {
  const rows = await store.slowRows(
    ch`select toString(toDate(at)) as day, toString(count()) as requests, toString(sum(cost)) as cost
      from ${tableOf(table)} final group by day`,
  );
  return new Map(rows.map((row) => [String(row['day']), sumsOf(row)]));
}

function sumsOf(row: Readonly<Record<string, unknown>> | undefined): DaySums {
  return { requests: String(row?.['requests']), cost: String(row?.['cost']) };
}

/** Days of the log or of the export that ended before `until`, without those in the outbox. */
async function daysToCompare(
  em: EntityManager,
  until: Date,
  exported: ReadonlyMap<string, DaySums>,
): Promise<string[]> {
  const row = await queryRow<{ first: string | null; pending: string[] }>(
    em,
    sql`select (select min(at)::text from usage_entry) as first,
      array(select distinct (r.at at time zone 'UTC')::date::text from usage_outbox o
        cross join unnest(o.ats) as r (at)) as pending`,
  );
  const first = [...exported.keys(), ...(row.first ? [row.first.slice(0, 10)] : [])].toSorted()[0];
  if (first === undefined) return [];
  const days: string[] = [];
  for (let at = Date.parse(first); at + DAY_MS <= until.getTime(); at += DAY_MS)
    days.push(new Date(at).toISOString().slice(0, 10));
  const pending = new Set(row.pending);
  return days.filter((day) => !pending.has(day));
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

/** Replaces the rows of a day in ClickHouse, and returns their sums there. */
async function exportAgain({ em, store, state: { table } }: ComparisonParts, day: string): Promise<DaySums> {
  const ofDay = ch`toDate(at) = toDate(${textOf(day)})`;
  await store.command(ch`delete from ${tableOf(table)} where ${ofDay}`);
  for await (const lines of readDay(em, day)) await store.insert(table, lines);
  const [row] = await store.slowRows(
    ch`select toString(count()) as requests, toString(sum(cost)) as cost
      from ${tableOf(table)} final where ${ofDay}`,
  );
  return sumsOf(row);
}
