/** The legend of the chart: each series with its sum, for the whole range or for the selected bar. */
import { clsx } from 'clsx';
import { SERIES_TONES } from '../../components/chart-series.ts';
import { LeaderList, LeaderRow, LeaderSum } from '../../components/leader-row.tsx';
import { Money } from '../../components/money.tsx';
import { stampText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { useBarText } from './bar-text.ts';
import { useAmountWords } from './amount-text.ts';
import type { UsageSearch } from './search.ts';
import type { Bucket, Measure, Series, Sums } from './summary.ts';
import { ViewButton } from './view-button.tsx';

const SWATCH = 'drawn size-2.5 flex-none rounded-[2px]';

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
  const number = new Intl.NumberFormat(i18n.language);
  const { textOf } = useAmountWords(measure);
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
              <span className="flex min-w-0 items-center gap-2.5">
                {measure !== 'rate' && (
                  <span className={clsx(SWATCH, SERIES_TONES[index]?.swatch)} aria-hidden="true" />
                )}
                <span className="[overflow-wrap:anywhere]">
                  {one.key === undefined ? t('usage.others', { count: one.keys.length }) : one.label}
                </span>
              </span>
            }
          >
            {value(bucket?.parts[index] ?? one.sums)}
          </LeaderRow>
        ))}
        <LeaderSum name={t('usage.count', { count: shown.requests, shown: number.format(shown.requests) })}>
          <Money amount={shown.cost} />
        </LeaderSum>
      </LeaderList>
      <p className="mt-3 text-hint text-ink-3">
        {t('usage.dashed')} {t('state.asOf', { time: stampText(new Date(asOf), i18n.language, true) })}
      </p>
    </div>
  );
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
