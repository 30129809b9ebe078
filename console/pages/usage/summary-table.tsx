/** The bars of the chart as a table. */
import { type Column, DataTable } from '../../components/data-table.tsx';
import { decimalsOf, Money } from '../../components/money.tsx';
import { useTranslation } from '../../translation.ts';
import { useBarText } from './bar-text.ts';
import type { Bucket, Sums } from './summary.ts';

/** One row per day or hour, newest first. */
export function SummaryTable({ buckets }: { buckets: readonly Bucket[] }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const align = decimalsOf(buckets.map(({ sums }) => sums.cost));
  const barText = useBarText();
  const count = (id: string, header: string, value: (sums: Sums) => number): Column<Bucket> => ({
    id,
    header,
    meta: { right: true },
    cell: ({ row }) => number.format(value(row.original.sums)),
  });
  const cost = ({ sums }: Bucket) => <Money amount={sums.cost} align={align} className="font-semibold" />;
  return (
    <DataTable
      label={t('usage.byDay')}
      rows={[...buckets].reverse()}
      idOf={({ id }) => id}
      dense
      columns={[
        { id: 'day', header: t('usage.day'), cell: ({ row }) => barText(row.original.id) },
        count('requests', t('usage.requests'), ({ requests }) => requests),
        count('failed', t('usage.unsuccessful'), ({ failed }) => failed),
        { id: 'cost', header: t('usage.cost'), meta: { right: true }, cell: ({ row }) => cost(row.original) },
        count('tokens', t('usage.measures.tokens'), ({ tokens }) => tokens),
      ]}
      card={({ id, sums }) => (
        <div className="flex justify-between gap-3 text-table">
          <span className="font-[550]">{barText(id)}</span>
          <span className="text-ink-2">
            {t('usage.count', { count: sums.requests, shown: number.format(sums.requests) })}
          </span>
          <Money amount={sums.cost} />
        </div>
      )}
    />
  );
}
