/** Writes tables as text: CSV (RFC 4180) without formulas, or one JSON object per line. */

/** Undefined and null are empty cells in CSV and null in JSON. */
export type Cell = string | number | boolean | Date | null | undefined;
export type TableFormat = 'csv' | 'jsonl';

/** A column: its name, and the function that returns its cell of a row. */
export interface Column<Row> {
  name: string;
  value: (row: Row) => Cell;
}

const NUMBER = /^-?\d+(\.\d+)?$/;
/** Spreadsheets run such cells as formulas: https://owasp.org/www-community/attacks/CSV_Injection. */
const FORMULA = /^[=+\-@\t\r\n]/;
const QUOTED = /[",\r\n]/;

/** The header line of a CSV table; empty for JSON, whose lines name their members. */
export function headerOf<Row>(columns: readonly Column<Row>[], format: TableFormat): string {
  return format === 'csv' ? `${columns.map(({ name }) => csvCell(name)).join(',')}\r\n` : '';
}

/** Rows as lines of the table, with times in UTC. */
export function linesOf<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  format: TableFormat,
): string {
  const line = format === 'csv' ? csvLine : jsonLine;
  return rows.map((row) => line(columns, row)).join('');
}

function csvLine<Row>(columns: readonly Column<Row>[], row: Row): string {
  return `${columns.map(({ value }) => csvCell(plain(value(row)))).join(',')}\r\n`;
}

function jsonLine<Row>(columns: readonly Column<Row>[], row: Row): string {
  const members = columns.map(({ name, value }) => [name, plain(value(row))] as const);
  return `${JSON.stringify(Object.fromEntries(members))}\n`;
}

/** Text that a spreadsheet could run as a formula gets an apostrophe in front; negative numbers do not. */
function csvCell(cell: string | number | boolean | null): string {
  const text = cell === null ? '' : String(cell);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function plain(cell: Cell): string | number | boolean | null {
  return cell instanceof Date ? cell.toISOString() : (cell ?? null);
}
