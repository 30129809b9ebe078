/** The bars of the chart as a table. */
import { type Column, DataTable } from '../../components/data-table.tsx';
import { decimalsOf, Money } from '../../components/money.tsx';
import { useTranslation } from '../../translation.ts';
import { useBarText } from './bar-text.ts';
import { useAmountWords } from './amount-text.ts';
import { type Bucket, type Measure, type Series, type Sums, sumsOf } from './summary.ts';

interface SummaryTableProps {
  buckets: readonly Bucket[];
  /** The models or keys of the chart. Each one is a column with the measure. */
  series: readonly Series[];
  measure: Measure;
}

/** One row per day or hour, newest first. */
export function SummaryTable({ buckets, series, measure }: SummaryTableProps) {
  const { t, i18n } = useTranslation();
  const { textOf } = useAmountWords(measure);
  const number = new Intl.NumberFormat(i18n.language);
  const align = decimalsOf(buckets.map(({ sums }) => sums.cost));
  const barText = useBarText();
  const count = (id: string, header: string, value: (sums: Sums) => number): Column<Bucket> => ({
    id,
    header,
    meta: { right: true },
    cell: ({ row }) => number.format(value(row.original.sums)),
  });
  const nameOf = useSeriesName();
  const parts = series.map((one, index): Column<Bucket> => ({
    id: `series-${index}`,
    header: nameOf(one),
    meta: { right: true },
    cell: ({ row }) => textOf(row.original.parts[index] ?? sumsOf([])),
  }));
  const cost = ({ sums }: Bucket) => <Money amount={sums.cost} align={align} className="font-semibold" />;
  return (
    <DataTable
      label={t('usage.byDay')}
      rows={[...buckets].reverse()}
      idOf={({ id }) => id}
      dense
      columns={[
        {
          id: 'day',
          header: t('usage.day'),
          cell: ({ row }) => <span className="whitespace-nowrap">{barText(row.original.id)}</span>,
        },
        count('requests', t('usage.requests'), ({ requests }) => requests),
        count('failed', t('usage.unsuccessful'), ({ failed }) => failed),
        { id: 'cost', header: t('usage.cost'), meta: { right: true }, cell: ({ row }) => cost(row.original) },
        count('tokens', t('usage.measures.tokens'), ({ tokens }) => tokens),
        ...parts,
      ]}
      card={(bucket) => <Card {...{ bucket, series, measure }} />}
    />
  );
}

function useSeriesName(): (series: Series) => string {
  const { t } = useTranslation();
  return ({ key, keys, label }) => (key === undefined ? t('usage.others', { count: keys.length }) : label);
}

/** A day or hour with its models or keys, for phones. */
function Card({ bucket, series, measure }: Omit<SummaryTableProps, 'buckets'> & { bucket: Bucket }) {
  const { t } = useTranslation();
  const barText = useBarText();
  const nameOf = useSeriesName();
  const { textOf } = useAmountWords(measure);
  const { requests, cost } = bucket.sums;
  return (
    <div className="flex flex-col gap-1 text-table">
      <div className="flex justify-between gap-3">
        <span className="font-[550]">{barText(bucket.id)}</span>
        <span className="text-ink-2">{t('usage.count', { count: requests })}</span>
        <Money amount={cost} />
      </div>
      {series.map((one, index) => (
        <div key={one.key ?? 'others'} className="flex justify-between gap-3 text-ink-2">
          <span className="[overflow-wrap:anywhere]">{nameOf(one)}</span>
          <span>{textOf(bucket.parts[index] ?? sumsOf([]))}</span>
        </div>
      ))}
    </div>
  );
}
