/** The header row of a table. It stays visible while the rows scroll; sortable columns are buttons. */
import type { Header, ReactTable } from '@tanstack/react-table';
import { clsx } from 'clsx';
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import { use } from 'react';
import { useTranslation } from '../translation.ts';
import { nextOrder, orderOf } from './sort-order.ts';
import { PageBox } from './table-checks.tsx';
import { SortingContext } from './table-context.ts';
import type { Features } from './table-types.ts';

interface HeadProps<Row extends object> {
  table: ReactTable<Features, Row>;
  /** Whether the rows have checkboxes. */
  chooses: boolean;
}

// The frame of the page defines --bar, the height of its top bar. The line is a shadow, because a border of a
// row does not move with its sticky cells.
const HEAD =
  'sticky top-(--head-top) z-10 cell bg-page text-hint font-medium whitespace-nowrap text-ink-3 ' +
  'shadow-[inset_0_-1px_0_var(--line-strong)]';

/** The row. */
export function TableHead<Row extends object>({ table, chooses }: HeadProps<Row>) {
  return (
    <thead>
      {table.getHeaderGroups().map((group) => (
        <tr key={group.id} className="h-[33px]">
          {chooses && (
            <th scope="col" className={clsx(HEAD, 'box-cell text-left')}>
              <PageBox ids={table.getRowModel().rows.map(({ id }) => id)} />
            </th>
          )}
          {group.headers.map((header) => (
            <HeadCell key={header.id} table={table} header={header} />
          ))}
        </tr>
      ))}
    </thead>
  );
}

interface CellProps<Row extends object> extends Pick<HeadProps<Row>, 'table'> {
  header: Header<Features, Row>;
}

function HeadCell<Row extends object>({ table, header }: CellProps<Row>) {
  const sorting = use(SortingContext);
  const { right = false, silent = false, sort } = header.column.columnDef.meta ?? {};
  const order = orderOf(sorting?.value);
  const present = order?.column === header.column.id ? order.direction : undefined;
  const words = <table.FlexRender header={header} />;
  return (
    <th
      scope="col"
      className={clsx(HEAD, right ? 'text-right' : 'text-left')}
      {...(present && { 'aria-sort': present === 'ASC' ? 'ascending' : 'descending' })}
    >
      {sort && sorting ? (
        <button
          type="button"
          className={clsx(SORT, right && 'flex-row-reverse', present && 'text-ink')}
          onClick={() => sorting.onSort(nextOrder(sorting.value, header.column.id, sort))}
        >
          {words}
          <SortSign direction={present} />
        </button>
      ) : (
        <span className={clsx(silent && 'sr-only')}>{words}</span>
      )}
    </th>
  );
}

const SORT =
  '-mx-1.5 inline-flex h-7 items-center gap-1 rounded-control px-1.5 hover:bg-hover hover:text-ink ' +
  'touch:h-11';

function SortSign({ direction }: { direction: 'ASC' | 'DESC' | undefined }) {
  const Icon = direction === undefined ? ChevronsUpDown : direction === 'ASC' ? ArrowUp : ArrowDown;
  return <Icon size={12} strokeWidth={2} className="flex-none" aria-hidden="true" />;
}

/** Tells screen readers the order after each change. */
export function SortNews({ words, direction }: { words: string; direction: 'ASC' | 'DESC' }) {
  const { t } = useTranslation();
  return (
    <span role="status" className="sr-only">
      {t(direction === 'ASC' ? 'table.sortedUp' : 'table.sortedDown', { column: words })}
    </span>
  );
}
