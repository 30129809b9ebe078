/** The bars of the chart of times as a table. */
import { type Column, DataTable } from '../../components/data-table.tsx';
import { useDurationText } from '../../components/duration.ts';
import { None } from '../../components/duration-text.tsx';
import { useTranslation } from '../../translation.ts';
import { useBarText } from './bar-text.ts';
import { msOf, PERCENTILES, type TimeBucket } from './times.ts';

/** One row per day or hour, newest first. */
export function TimesTable({ buckets }: { buckets: readonly TimeBucket[] }) {
  const { t, i18n } = useTranslation();
  const durationText = useDurationText();
  const barText = useBarText();
  const number = new Intl.NumberFormat(i18n.language);
  const columns: Column<TimeBucket>[] = PERCENTILES.map((name) => ({
    id: name,
    header: name,
    meta: { right: true },
    cell: ({ row: { original } }) =>
      original.percentiles ? durationText(msOf(original.percentiles, name)) : <None />,
  }));
  return (
    <DataTable
      label={t('usage.byDay')}
      rows={[...buckets].reverse()}
      idOf={({ id }) => id}
      dense
      columns={[
        { id: 'day', header: t('usage.day'), cell: ({ row }) => barText(row.original.id) },
        {
          id: 'requests',
          header: t('usage.requests'),
          meta: { right: true },
          cell: ({ row }) => number.format(row.original.percentiles?.requests ?? 0),
        },
        ...columns,
      ]}
      card={({ id, percentiles }) => (
        <div className="flex flex-wrap justify-between gap-x-3 text-table">
          <span className="font-[550]">{barText(id)}</span>
          {percentiles ? (
            PERCENTILES.map((name) => (
              <span key={name} className="text-ink-2">
                {name} {durationText(msOf(percentiles, name))}
              </span>
            ))
          ) : (
            <None />
          )}
        </div>
      )}
    />
  );
}
