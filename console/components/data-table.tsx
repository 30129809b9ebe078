/**
 * Tables of the console: the server sorts and pages, this draws; on a phone each row becomes a card with the
 * same facts.
 */
import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { usePhone } from './store.ts';

export interface Column<Row> {
  id: string;
  head: string;
  /** What the cell of a row shows. */
  cell: (row: Row) => ReactNode;
  /** Figures stand right. */
  right?: boolean;
  /** Left out below this width, least needed first. */
  from?: 'lg' | 'xl' | '2xl';
  /** The head is for screen readers alone, as over a column of menus. */
  silent?: boolean;
}

interface DataTableProps<Row> {
  /** What the table lists; read out by screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  idOf: (row: Row) => string;
  /** The same facts as a card for a phone. */
  card: (row: Row) => ReactNode;
  /** 44 for rows of two lines, 38 for a log. */
  dense?: boolean;
}

/** A table on wide screens, a list of cards on a phone. */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  return usePhone() ? <Cards {...props} /> : <Table {...props} />;
}

function Cards<Row extends object>({ label, rows, idOf, card }: DataTableProps<Row>) {
  return (
    <ul aria-label={label} className="-mx-4 border-t border-line">
      {rows.map((row) => (
        <li key={idOf(row)} className={CARD}>
          {card(row)}
        </li>
      ))}
    </ul>
  );
}

// A menu's button is larger than the line that it stands in, and ends where the text does.
const CARD = clsx(
  'relative border-b border-line px-4 py-3.5 [&_button]:relative',
  'touch:[&_[aria-haspopup=menu]]:-my-3 touch:[&_[aria-haspopup=menu]]:-mr-3.5',
);

const FROM = { lg: 'max-lg:hidden', xl: 'max-xl:hidden', '2xl': 'max-2xl:hidden' };

const HEAD = 'px-3 text-hint font-medium whitespace-nowrap text-ink-3';
const ROW =
  'relative border-b border-line transition-colors duration-[120ms] hover:bg-hover [&_button]:relative';

function shapeOf<Row>({ right = false, from }: Column<Row>): string {
  return clsx(right ? 'text-right' : 'text-left', from && FROM[from]);
}

function Table<Row extends object>({ label, columns, rows, idOf, dense = false }: DataTableProps<Row>) {
  return (
    <div className="relative overflow-x-auto">
      <table className="w-full border-collapse text-table" aria-label={label}>
        <thead>
          <tr className="h-[33px] border-b border-line-strong">
            {columns.map((column) => (
              <th key={column.id} scope="col" className={clsx(HEAD, shapeOf(column))}>
                <span className={clsx(column.silent === true && 'sr-only')}>{column.head}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={idOf(row)} className={clsx(ROW, dense ? 'h-[38px]' : 'h-11')}>
              {columns.map((column) => (
                <td key={column.id} className={clsx('px-3 py-0.5', shapeOf(column))}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
