/** The legend of the chart: each series with its sum, for the whole range or for the selected bar. */
import { type ReactNode, useState } from 'react';
import { LeaderList, LeaderRow, LeaderSum } from '../../components/leader-row.tsx';
import { Money } from '../../components/money.tsx';
import { stampText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { useBarText } from './bar-text.ts';
import { useAmountWords } from './amount-text.ts';
import type { UsageSearch } from './search.ts';
import { SeriesName } from './series-name.tsx';
import type { Bucket, Measure, Series, Sums } from './summary.ts';
import { ViewButton } from './view-button.tsx';

interface LegendProps {
  search: UsageSearch;
  measure: Measure;
  series: readonly Series[];
  /** The sums of the whole range. */
  sums: Sums;
  /** The selected bar; undefined for the whole range. */
  bucket: Bucket | undefined;
  /** RFC 3339. */
  asOf: string;
}

/** The legend. */
export function Legend({ search, measure, series, sums, bucket, asOf }: LegendProps) {
  const { t, i18n } = useTranslation();
  const barText = useBarText();
  const { textOf } = useAmountWords(measure);
  const [listed, setListed] = useState(false);
  const nameOf = ({ key, keys, label }: Series) =>
    key === undefined ? t('usage.others', { count: keys.length }) : label;
  const shown = bucket?.sums ?? sums;
  const value = (one: Sums) =>
    measure === 'cost' ? <Money amount={one.cost} className="font-semibold" /> : textOf(one);
  return (
    <div className="min-w-0">
      <LegendHead search={search} bucketText={bucket && barText(bucket.id)} />
      <LeaderList>
        {series.map((one, index) => (
          <LeaderRow
            key={one.key ?? 'others'}
            name={
              <SeriesName index={measure === 'rate' ? undefined : index}>
                {one.key === undefined && !bucket ? (
                  <Others count={one.keys.length} open={listed} toggle={() => setListed(!listed)} />
                ) : (
                  <span className="[overflow-wrap:anywhere]">{nameOf(one)}</span>
                )}
              </SeriesName>
            }
          >
            {value(bucket?.parts[index] ?? one.sums)}
          </LeaderRow>
        ))}
        {listed && !bucket && <Members series={series} value={value} />}
        <LeaderSum name={t('usage.count', { count: shown.requests })}>
          <Money amount={shown.cost} />
        </LeaderSum>
      </LeaderList>
      <p className="mt-3 text-hint text-ink-3">
        {t('usage.dashed')}
        {t('state.gap')}
        {t('state.asOf', { time: stampText(new Date(asOf), i18n.language, true) })}
      </p>
    </div>
  );
}

interface OthersProps {
  count: number;
  open: boolean;
  toggle: () => void;
}

/** The name of the remaining groups, as a button that lists them. */
function Others({ count, open, toggle }: OthersProps) {
  const { t } = useTranslation();
  return (
    <button
      type="button"
      aria-expanded={open}
      className="rounded-tag text-left text-accent underline touch:min-h-11"
      onClick={toggle}
    >
      {t('usage.others', { count })}
    </button>
  );
}

interface MembersProps {
  series: readonly Series[];
  value: (sums: Sums) => ReactNode;
}

/** The remaining groups, the largest first, with their sums of the whole range. */
function Members({ series, value }: MembersProps) {
  return series
    .flatMap(({ members }) => members)
    .map(({ key, label, sums }) => (
      <LeaderRow key={key} name={<span className="pl-5 [overflow-wrap:anywhere] text-ink-2">{label}</span>}>
        {value(sums)}
      </LeaderRow>
    ));
}

interface HeadProps {
  search: UsageSearch;
  /** The selected day or hour. */
  bucketText: string | undefined;
}

function LegendHead({ search, bucketText }: HeadProps) {
  const { t } = useTranslation();
  return (
    <div className="mb-2 flex items-baseline justify-between gap-3 text-table">
      <span className="text-hint text-ink-3">
        {t(`usage.${search.by ?? 'model'}`)}
        {bucketText !== undefined && `, ${bucketText}`}
      </span>
      <ViewButton search={search} />
    </div>
  );
}
