/** The days of the charts as a table. */
import { DataTable } from '../../components/data-table.tsx';
import { decimalsOf, Money } from '../../components/money.tsx';
import { utcDayText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import type { Day } from './summary.ts';

/** One row per day, newest first. */
export function SummaryTable({ days }: { days: readonly Day[] }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const align = decimalsOf(days.map(({ cost }) => cost));
  const day = ({ id }: Day) => utcDayText(id, i18n.language);
  return (
    <DataTable
      label={t('usage.byDay')}
      rows={[...days].reverse()}
      idOf={({ id }) => id}
      dense
      columns={[
        { id: 'day', header: t('usage.day'), cell: ({ row }) => day(row.original) },
        {
          id: 'requests',
          header: t('usage.requests'),
          meta: { right: true },
          cell: ({ row }) => number.format(row.original.requests),
        },
        {
          id: 'failed',
          header: t('usage.unsuccessful'),
          meta: { right: true },
          cell: ({ row }) => number.format(row.original.failed),
        },
        {
          id: 'cost',
          header: t('usage.cost'),
          meta: { right: true },
          cell: ({ row }) => <Money amount={row.original.cost} align={align} className="font-semibold" />,
        },
      ]}
      card={(one) => (
        <div className="flex justify-between gap-3 text-table">
          <span className="font-[550]">{day(one)}</span>
          <span className="text-ink-2">
            {t('usage.count', { count: one.requests, shown: number.format(one.requests) })}
          </span>
          <Money amount={one.cost} />
        </div>
      )}
    />
  );
}
