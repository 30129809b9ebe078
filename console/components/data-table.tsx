/**
 * Tables of the console. The service sorts and pages; the table library manages columns and rows. On a phone,
 * each row is a card. A table that is wider than its place scrolls inside a region of its own.
 */
import { type Cell, type ReactTable, useTable } from '@tanstack/react-table';
import { clsx } from 'clsx';
import { Fragment, type ReactNode, useDeferredValue, useMemo } from 'react';
import { useColumnChoice } from './column-choice.ts';
import { usePhone } from './store.ts';
import { RowBox } from './table-checks.tsx';
import { ChoiceContext, SortingContext } from './table-context.ts';
import { TableHead } from './table-head.tsx';
import { TableRegion } from './table-region.tsx';
import { TableTools } from './table-tools.tsx';
import { type Column, FEATURES, type Features, type Selection, type Sorting } from './table-types.ts';

export type { Column } from './table-types.ts';

interface DataTableProps<Row extends object> {
  /** The name of the table, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  idOf: (row: Row) => string;
  /** Renders a row as a card, for phones. */
  card: (row: Row) => ReactNode;
  /** Content below a row, over the whole width; null for none. */
  below?: (row: Row) => ReactNode;
  /** Rows of 38 px instead of 44 px, for logs. */
  dense?: boolean;
  /** Under this name the browser keeps which columns are shown. Without it, all columns are shown. */
  name?: string;
  /** The order of the rows; without it, the table cannot be sorted. */
  sorting?: Sorting;
  /** Checkboxes on rows; without it, there are none. */
  selection?: Selection<Row> | undefined;
}

/**
 * A table on wide screens, a list of cards on a phone. After a press, the browser shows the header and the
 * checkboxes first. The rows follow in short tasks, so that many rows delay no further input.
 */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { name, columns, sorting, selection, ...rest } = props;
  const choice = useColumnChoice(name);
  const phone = usePhone();
  const { isShown } = choice;
  const shown = useMemo(
    () => (name === undefined || phone ? columns : columns.filter(isShown)),
    [name, phone, columns, isShown],
  );
  const now = <Drawn {...rest} columns={shown} phone={phone} nameOf={selection?.nameOf} />;
  const later = useDeferredValue(now);
  // Content below a row may ask the service. React would begin such a rendering again with each request.
  const drawn = rest.below ? now : later;
  return (
    <>
      {(phone ? sorting : name) !== undefined && (
        <TableTools
          label={rest.label}
          columns={columns}
          sorting={sorting}
          phone={phone}
          choice={name === undefined ? undefined : choice}
        />
      )}
      <SortingContext value={sorting}>
        {selection ? <ChoiceContext value={selection}>{drawn}</ChoiceContext> : drawn}
      </SortingContext>
    </>
  );
}

interface DrawnProps<Row extends object> extends Omit<DataTableProps<Row>, 'name' | 'sorting' | 'selection'> {
  /** Whether the rows are cards. */
  phone: boolean;
  /** The name of a row, for the label of its checkbox; undefined for rows without checkboxes. */
  nameOf: ((row: Row) => string) | undefined;
}

function Drawn<Row extends object>({ columns, rows, idOf, phone, ...look }: DrawnProps<Row>) {
  const table = useTable({ features: FEATURES, columns, data: rows, getRowId: idOf });
  return phone ? <Cards {...look} table={table} /> : <Table {...look} table={table} />;
}

interface TableProps<Row extends object> extends Omit<
  DrawnProps<Row>,
  'columns' | 'rows' | 'idOf' | 'phone'
> {
  table: ReactTable<Features, Row>;
}

function Cards<Row extends object>({ label, table, card, below, nameOf }: TableProps<Row>) {
  return (
    <ul aria-label={label} className="-mx-4 border-t border-line">
      {table.getRowModel().rows.map((row) => (
        <li key={row.id} className={clsx(CARD, nameOf && 'flex items-start gap-3')}>
          {nameOf && <RowBox id={row.id} name={nameOf(row.original)} />}
          <div className={clsx(nameOf && 'min-w-0 flex-1')}>
            {card(row.original)}
            <Facts cells={row.getAllCells()} />
          </div>
          {below?.(row.original)}
        </li>
      ))}
    </ul>
  );
}

/** The columns that a card does not show itself, each with its header. */
function Facts<Row extends object>({ cells }: { cells: readonly Cell<Features, Row>[] }) {
  const facts = cells.filter(({ column }) => column.columnDef.meta?.fact === true);
  if (facts.length === 0) return null;
  return (
    <dl className="mt-1.5 flex flex-wrap gap-x-4 gap-y-0.5 text-hint text-ink-2">
      {facts.map((cell) => (
        <div key={cell.id} className="flex gap-1.5">
          <dt className="flex-none text-ink-3">{String(cell.column.columnDef.header)}</dt>
          <dd className="min-w-0 [&_[data-padding]]:hidden">{renderCell(cell)}</dd>
        </div>
      ))}
    </dl>
  );
}

// A menu button is larger than its line; negative margins align its edge with the text.
const CARD = clsx(
  'relative border-b border-line px-4 py-3.5 [&_:is(button,label)]:relative',
  'touch:[&_[aria-haspopup=menu]]:-my-3 touch:[&_[aria-haspopup=menu]]:-mr-3.5',
);

const ROW =
  'relative border-b border-line transition-colors duration-[120ms] hover:bg-hover ' +
  'has-[[data-row-box]:checked]:bg-accent-soft [&_:is(button,label)]:relative';

function Table<Row extends object>({ label, table, dense = false, nameOf, below }: TableProps<Row>) {
  const { rows } = table.getRowModel();
  return (
    <TableRegion label={label}>
      <table className="w-full border-collapse text-table" aria-label={label}>
        <TableHead table={table} chooses={nameOf !== undefined} />
        <tbody>
          {rows.map((row) => (
            <Fragment key={row.id}>
              <tr className={clsx(ROW, dense ? 'h-[38px]' : 'h-11')}>
                {nameOf && (
                  <td className="box-cell">
                    <RowBox id={row.id} name={nameOf(row.original)} />
                  </td>
                )}
                <Cells cells={row.getAllCells()} />
              </tr>
              <Below columns={row.getAllCells().length + (nameOf ? 1 : 0)}>{below?.(row.original)}</Below>
            </Fragment>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}

/** The cells of a row. They are drawn again only if the row or the columns are other objects. */
function Cells<Row extends object>({ cells }: { cells: readonly Cell<Features, Row>[] }) {
  return useMemo(
    () =>
      cells.map((cell) => (
        <td
          key={cell.id}
          className={clsx(
            'cell py-1',
            cell.column.columnDef.meta?.right === true ? 'text-right' : 'text-left',
          )}
        >
          {renderCell(cell)}
        </td>
      )),
    [cells],
  );
}

/** A row for the content below another row, if there is any. */
function Below({ columns, children }: { columns: number; children: ReactNode }) {
  if (!children) return null;
  return (
    <tr className="border-b border-line">
      <td colSpan={columns} className="cell">
        {children}
      </td>
    </tr>
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
