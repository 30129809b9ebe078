/** Reads a partition of the usage log in pages, in the order of time and id. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../../database/sql.ts';
import type { Statement } from '../../database/sql.ts';
import { ARCHIVE_COLUMNS, COST_AT, SELECTED, columnOf } from './columns.ts';
import type { ArchiveValue, StoredRow } from './columns.ts';

/** A partition that still has its rows. Times are texts, because a Date would lose microseconds. */
export interface Partition {
  name: string;
  lower: string;
  upper: string;
}

/** A row of the log by its exact time and id. */
export interface LogPosition {
  at: string;
  id: string;
}

/** Rows of the log by column. */
export interface LogPage {
  columns: ArchiveValue[][];
  rows: number;
  /** Sum of the charges in micro-USD. */
  cost: bigint;
  /** The last row; null without rows. */
  last: LogPosition | null;
}

/** The rows of `usage_entry u` in the partition, after a row if one is given. */
export function rowsAfter({ lower, upper }: Partition, after: LogPosition | null): Statement {
  const beyond = after ? sql`(u.at, u.id) > (${after.at}::timestamptz, ${after.id})` : sql`true`;
  return sql`u.at >= ${lower}::timestamptz and u.at < ${upper}::timestamptz and ${beyond}`;
}

/** At most `limit` rows of the partition that follow a row, or the first ones. */
export async function readPage(
  em: EntityManager,
  partition: Partition,
  { after, limit }: { after: LogPosition | null; limit: number },
): Promise<LogPage> {
  const rows = await query<StoredRow & { exact_at: string; id: string }>(
    em,
    sql`select ${SELECTED}, u.at::text as exact_at from usage_entry u
      where ${rowsAfter(partition, after)} order by u.at, u.id limit ${limit}`,
  );
  const columns = ARCHIVE_COLUMNS.map((column) => columnOf(column, rows));
  const cost = (columns[COST_AT] ?? []).reduce<bigint>((sum, value) => sum + BigInt(value ?? 0), 0n);
  const last = rows.at(-1);
  return { columns, rows: rows.length, cost, last: last ? { at: last.exact_at, id: last.id } : null };
}
