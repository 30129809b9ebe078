/** The line above a table: the choice of columns; on a phone, the order of the cards. */
import { ArrowUpDown, Columns3 } from 'lucide-react';
import { useTranslation } from '../translation.ts';
import { Button } from './button.tsx';
import type { ColumnChoice } from './column-choice.ts';
import { Menu } from './menu.tsx';
import type { MenuEntry } from './menu-entries.ts';
import { orderOf } from './sort-order.ts';
import { SortNews } from './table-head.tsx';
import type { Column, Sorting } from './table-types.ts';

interface ToolsProps<Row extends object> {
  label: string;
  columns: readonly Column<Row>[];
  sorting: Sorting | undefined;
  phone: boolean;
  choice: ColumnChoice | undefined;
}

/** The line. */
export function TableTools<Row extends object>({ label, columns, sorting, phone, choice }: ToolsProps<Row>) {
  const order = orderOf(sorting?.value);
  const sorted = columns.find(({ id }) => id === order?.column);
  return (
    <div className="mb-1 flex min-h-7 items-center justify-end gap-2">
      {order && sorted && <SortNews words={sorted.header} direction={order.direction} />}
      {phone && sorting && <OrderMenu columns={columns} sorting={sorting} />}
      {!phone && choice && <ColumnMenu label={label} columns={columns} choice={choice} />}
    </div>
  );
}

function OrderMenu<Row extends object>({
  columns,
  sorting,
}: {
  columns: readonly Column<Row>[];
  sorting: Sorting;
}) {
  const { t } = useTranslation();
  const options = columns
    .filter(({ meta }) => meta?.sort !== undefined)
    .flatMap(({ id, header }) => [
      { value: id, word: t('table.sortedUp', { column: header }) },
      { value: `-${id}`, word: t('table.sortedDown', { column: header }) },
    ]);
  return (
    <Menu
      trigger={
        <Button size="small" icon={<ArrowUpDown size={14} strokeWidth={1.75} aria-hidden="true" />}>
          {t('table.order')}
        </Button>
      }
      entries={[
        {
          kind: 'choices',
          label: t('table.order'),
          value: sorting.value ?? '',
          options,
          choose: sorting.onSort,
        },
      ]}
    />
  );
}

interface ColumnMenuProps<Row extends object> extends Pick<ToolsProps<Row>, 'label' | 'columns'> {
  choice: ColumnChoice;
}

function ColumnMenu<Row extends object>({ label, columns, choice }: ColumnMenuProps<Row>) {
  const { t } = useTranslation();
  const free = columns.filter(({ meta }) => meta?.silent !== true);
  const shown = free.filter(choice.isShown);
  const entries: MenuEntry[] = free.map((column, index) => ({
    kind: 'switch',
    word: column.header,
    on: choice.isShown(column),
    // The first column names the row, so it stays.
    fixed: index === 0,
    change: (on) => choice.show(column, on),
  }));
  return (
    <Menu
      trigger={
        <Button
          size="small"
          variant="ghost"
          title={t('table.columnsOf', { name: label })}
          icon={<Columns3 size={14} strokeWidth={1.75} aria-hidden="true" />}
        >
          {t('table.columns', { shown: shown.length, all: free.length })}
        </Button>
      }
      entries={entries}
    />
  );
}
