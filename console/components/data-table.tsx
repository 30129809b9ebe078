/**
 * Tables of the console. The server sorts and pages; the table library manages columns and rows. On a phone,
 * each row is a card.
 */
import { type Cell, type CellContext, type ReactTable, tableFeatures, useTable } from '@tanstack/react-table';
import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { usePhone } from './store.ts';

/** Layout of a column, in addition to the members of the table library. */
interface ColumnLook {
  /** Aligns the column to the right, for numbers. */
  right?: boolean;
  /** Hides the column below this breakpoint. */
  from?: 'lg' | 'xl' | '2xl';
  /** Shows the header to screen readers only, as for a column of menus. */
  silent?: boolean;
}

const LOOK: ColumnLook = {};
/** The table uses no features of the library, because the server filters, sorts and pages. */
const FEATURES = tableFeatures({ columnMeta: LOOK });
type Features = typeof FEATURES;

/** A column of the table library, with the fields that every column of the console has. */
export interface Column<Row extends object> {
  id: string;
  header: string;
  /** Renders the cell of a row. It is not a component and must not use hooks. */
  cell: (context: CellContext<Features, Row>) => ReactNode;
  meta?: ColumnLook;
}

interface DataTableProps<Row extends object> {
  /** The name of the table, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  idOf: (row: Row) => string;
  /** Renders a row as a card, for phones. */
  card: (row: Row) => ReactNode;
  /** Rows of 38 px instead of 44 px, for logs. */
  dense?: boolean;
}

/** A table on wide screens, a list of cards on a phone. */
export function DataTable<Row extends object>({ columns, rows, idOf, ...look }: DataTableProps<Row>) {
  const table = useTable({ features: FEATURES, columns, data: rows, getRowId: idOf });
  return usePhone() ? <Cards {...look} table={table} /> : <Table {...look} table={table} />;
}

interface DrawnProps<Row extends object> extends Omit<DataTableProps<Row>, 'columns' | 'rows' | 'idOf'> {
  table: ReactTable<Features, Row>;
}

function Cards<Row extends object>({ label, table, card }: DrawnProps<Row>) {
  return (
    <ul aria-label={label} className="-mx-4 border-t border-line">
      {table.getRowModel().rows.map((row) => (
        <li key={row.id} className={CARD}>
          {card(row.original)}
        </li>
      ))}
    </ul>
  );
}

// A menu button is larger than its line; negative margins align its edge with the text.
const CARD = clsx(
  'relative border-b border-line px-4 py-3.5 [&_button]:relative',
  'touch:[&_[aria-haspopup=menu]]:-my-3 touch:[&_[aria-haspopup=menu]]:-mr-3.5',
);

const FROM = { lg: 'max-lg:hidden', xl: 'max-xl:hidden', '2xl': 'max-2xl:hidden' };

const HEAD = 'px-3 text-hint font-medium whitespace-nowrap text-ink-3';
const ROW =
  'relative border-b border-line transition-colors duration-[120ms] hover:bg-hover [&_button]:relative';

function shapeOf({ right = false, from }: ColumnLook = {}): string {
  return clsx(right ? 'text-right' : 'text-left', from && FROM[from]);
}

function Table<Row extends object>({ label, table, dense = false }: DrawnProps<Row>) {
  return (
    <div className="relative overflow-x-auto">
      <table className="w-full border-collapse text-table" aria-label={label}>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id} className="h-[33px] border-b border-line-strong">
              {group.headers.map((header) => (
                <th key={header.id} scope="col" className={clsx(HEAD, shapeOf(header.column.columnDef.meta))}>
                  <span className={clsx(header.column.columnDef.meta?.silent === true && 'sr-only')}>
                    <table.FlexRender header={header} />
                  </span>
                </th>
              ))}
            </tr>
          ))}
        </thead>
        <tbody>
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id} className={clsx(ROW, dense ? 'h-[38px]' : 'h-11')}>
              {row.getAllCells().map((cell) => (
                <td key={cell.id} className={clsx('px-3 py-0.5', shapeOf(cell.column.columnDef.meta))}>
                  {renderCell(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/**
 * Renders a cell by calling its function. The library's FlexRender would mount the function as a component.
 * Pages create new functions on every render, so each cell would be remounted and its menu would lose focus.
 */
function renderCell<Row extends object>(cell: Cell<Features, Row>): ReactNode {
  const { cell: draw } = cell.column.columnDef;
  return typeof draw === 'function' ? draw(cell.getContext()) : draw;
}
