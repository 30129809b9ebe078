/** A page of a sorted list as queries read it: where it begins, and in which order its rows are read. */
import { sql } from './sql.ts';
import type { Statement } from './sql.ts';

/** A page of a list. Without `from` it is the first page. */
export interface RowPage {
  /** Sort values of the item next to the page. */
  from?: readonly (string | number | null)[] | undefined;
  /** Whether the page precedes that item. Its rows are read in the reverse order of the list. */
  backward?: boolean;
  /** Number of rows to read. */
  limit: number;
}

/** How the rows of a page are read, for the ORM and for SQL. */
interface Reading {
  order: 'asc' | 'desc';
  /** Compares the sort values of a row with those of the item next to the page. */
  beyond: '$lt' | '$gt';
  orderSql: Statement;
  beyondSql: Statement;
}

const DOWN: Reading = { order: 'desc', beyond: '$lt', orderSql: sql`desc`, beyondSql: sql`<` };
const UP: Reading = { order: 'asc', beyond: '$gt', orderSql: sql`asc`, beyondSql: sql`>` };

/** How to read a page of a list that is sorted in this direction. */
export function readingOf({ backward = false }: RowPage, listOrder: 'asc' | 'desc' = 'desc'): Reading {
  return (listOrder === 'desc') !== backward ? DOWN : UP;
}

/** Condition, order and number of rows of a page of a list that is sorted by id, for the ORM. */
export function pageById(page: RowPage, listOrder: 'asc' | 'desc' = 'desc') {
  const { order, beyond } = readingOf(page, listOrder);
  const [id] = page.from ?? [];
  return {
    where: typeof id === 'string' ? { id: { [beyond]: id } } : {},
    options: { orderBy: { id: order }, limit: page.limit },
  };
}

/** The same for a list that is sorted by a column, if any, then by id. A cursor holds both values. */
export function pageByColumn(column: string | null, { from, ...page }: RowPage, listOrder: 'asc' | 'desc') {
  const [value, id] = from ?? [];
  if (column === null) return pageById({ ...page, ...(id !== undefined && { from: [id] }) }, listOrder);
  const { order, beyond } = readingOf(page, listOrder);
  const isNext = value !== undefined && typeof id === 'string';
  return {
    where: isNext
      ? { $or: [{ [column]: { [beyond]: value } }, { [column]: value, id: { [beyond]: id } }] }
      : {},
    options: { orderBy: [{ [column]: order }, { id: order }], limit: page.limit },
  };
}
