/** Sorts a list that is loaded as a whole; the address holds the order. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { sortRows } from './sort-order.ts';
import type { Sorting } from './table-types.ts';

/** The sorted rows, and the order for the table. `values` holds a function per sortable column. */
export function useSorted<Row>(
  rows: readonly Row[],
  values: Readonly<Partial<Record<string, (row: Row) => string | number>>>,
): { rows: readonly Row[]; sorting: Sorting } {
  const { sort } = useSearch({ strict: false });
  const navigate = useNavigate();
  const onSort = (value: string) =>
    void navigate({ to: '.', search: (search) => ({ ...search, sort: value }), resetScroll: false });
  return { rows: sortRows(rows, sort, values), sorting: { value: sort, onSort } };
}
