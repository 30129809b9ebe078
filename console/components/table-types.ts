/** Columns, order and selection of tables. */
import { type CellContext, tableFeatures } from '@tanstack/react-table';
import type { ReactNode } from 'react';

/** Layout of a column, in addition to the members of the table library. */
interface ColumnLook {
  /** Aligns the column to the right, for numbers. */
  right?: boolean;
  /** Hidden until the user chooses the column. */
  optional?: boolean;
  /** Shows the header to screen readers only, as for a column of menus. The column cannot be hidden. */
  silent?: boolean;
  /** The rows can be sorted by this column; the value is the order of the first press. */
  sort?: 'asc' | 'desc';
  /** On a phone, a card ends with the header and the value of this column. */
  fact?: boolean;
}

/** The look of a column that a card on a phone ends with. */
export const FACT: ColumnLook = { fact: true };

const LOOK: ColumnLook = {};
/**
 * The table uses no features of the library: the address holds the order and the page, the browser's storage
 * the choice of columns, and the service sorts and pages.
 */
export const FEATURES = tableFeatures({ columnMeta: LOOK });
export type Features = typeof FEATURES;

/** A column of the table library, with the fields that every column of the console has. */
export interface Column<Row extends object> {
  id: string;
  header: string;
  /** Renders the cell of a row. It is not a component and must not use hooks. */
  cell: (context: CellContext<Features, Row>) => ReactNode;
  meta?: ColumnLook;
}

/** The order of the rows, which is part of the address. */
export interface Sorting {
  /** The id of a column; with a minus in front, the largest value is first. */
  value: string | undefined;
  onSort: (value: string) => void;
}

/** The rows that are chosen for an action on several rows. */
export interface Selection<Row extends object> {
  chosen: ReadonlySet<string>;
  onChoose: (ids: ReadonlySet<string>) => void;
  /** The name of a row, for the label of its checkbox. */
  nameOf: (row: Row) => string;
}
