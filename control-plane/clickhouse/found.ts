/**
 * Finds the entries of a page in ClickHouse. It answers with request ids and times alone: PostgreSQL then
 * reads the entries by them with all conditions, so that no wrong answer can show the requests of others.
 */
import type { UsageCursor } from '../usage/usage.service.ts';
import { conditionsOf } from './conditions.ts';
import type { ChConditions } from './conditions.ts';
import { textIn } from './fields.ts';
import { allOf, ch, countOf, tableOf, textOf, timeOf } from './statement.ts';
import type { ChStatement } from './statement.ts';
import type { ClickHouseStore } from './store.ts';
import { toMicros, toPostgresTime } from './times.ts';

const HOUR_MS = 60 * 60 * 1000;
/** A page is looked for in the hour before the end of its range, then in 1, 8, 64 and 512 days before it. */
const WINDOWS_HOURS = [1, 24, 192, 1536, 12_288];

/** Request ids and exact times in PostgreSQL's text format, in the order of the page. */
export interface FoundEntries {
  requestIds: string[];
  ats: string[];
}

/** A page of the newest entries, or of those before an entry. */
export interface NewestPage {
  limit: number;
  after?: UsageCursor | undefined;
}

/** The entries of a page. Rejects if ClickHouse does not answer as expected. */
export async function findEntries(
  store: ClickHouseStore,
  table: string,
  { conditions, page, now }: { conditions: ChConditions; page: NewestPage; now: Date },
): Promise<FoundEntries> {
  const found: FoundEntries = { requestIds: [], ats: [] };
  for (const window of windowsOf(conditions, page, now)) {
    const limit = page.limit - found.ats.length;
    const rows = await store.rows(
      pageOf(tableOf(table), allOf([conditionsOf(conditions), window]), { ...page, limit }),
    );
    if (rows.length > limit) throw new Error('ClickHouse answered with more rows than asked for.');
    for (const row of rows) {
      found.requestIds.push(textIn(row, 'request_id'));
      found.ats.push(toPostgresTime(textIn(row, 'exact_at')));
    }
    if (found.ats.length >= page.limit) break;
  }
  return found;
}

function pageOf(table: ChStatement, where: ChStatement, { after, limit }: NewestPage): ChStatement {
  const beyond = after ? ch`(at, id) < (${timeOf(after.at)}, ${textOf(after.id)})` : ch`true`;
  return ch`select request_id, toString(at) as exact_at from ${table} final where ${where} and ${beyond}
    order by at desc, id desc limit ${countOf(limit)}`;
}

/** Spans of time that are searched one after another until the page is full. */
function windowsOf({ to }: ChConditions, { after }: NewestPage, now: Date): ChStatement[] {
  const cursor = after ? Number(toMicros(after.at) / 1000n) + 1 : Infinity;
  const end = Math.min(cursor, to?.getTime() ?? Infinity, now.getTime());
  const starts = WINDOWS_HOURS.map((hours) => new Date(end - hours * HOUR_MS));
  return [...starts, undefined].map((start, index) => {
    const before = starts[index - 1];
    const from = start ? ch`at >= ${timeOf(start)}` : ch`true`;
    return before ? ch`${from} and at < ${timeOf(before)}` : from;
  });
}
