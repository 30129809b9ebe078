/** A chart or a table of times over time: the p50, p95 and p99 of succeeded requests. */
import { clsx } from 'clsx';
import { lazy, type ReactNode, Suspense } from 'react';
import { BarChart } from '../../components/bar-chart.tsx';
import { SERIES_TONES } from '../../components/chart-series.ts';
import { useDurationText } from '../../components/duration.ts';
import { None } from '../../components/duration-text.tsx';
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { utcDayText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { barLabel, useBarText } from './bar-text.ts';
import { rangeOfBar, type Span } from './span.ts';
import { bucketsOf } from './summary.ts';
import { msOf, PERCENTILES, type Percentiles, type TimeBucket, timeBarsOf } from './times.ts';

const TimesTable = lazy(async () => ({ default: (await import('./times-table.tsx')).TimesTable }));

interface TimesPanelProps {
  span: Span;
  totals: Percentiles | null;
  series: readonly { at: string; percentiles: Percentiles | null }[];
  selected: string | undefined;
  onSelect: (id: string) => void;
  view: 'chart' | 'table';
  /** The figures of the models, keys, upstreams or nodes. */
  children?: ReactNode;
  /** Stands beside the figures above the chart. */
  choices: ReactNode;
}

/** The panel. */
export function TimesPanel({ span, totals, series, children, choices, ...chart }: TimesPanelProps) {
  const points = new Map(series.map(({ at, percentiles }) => [Date.parse(at), percentiles]));
  const buckets = bucketsOf({ span, points: [], before: [], series: [], measure: 'requests' }).map(
    ({ id }): TimeBucket => ({ id, percentiles: points.get(Date.parse(rangeOfBar(id).from)) ?? null }),
  );
  const selected = buckets.find(({ id }) => id === chart.selected);
  return (
    <div className="grid grid-cols-[1fr_300px] gap-x-9 gap-y-6 max-xl:grid-cols-1">
      <div className="min-w-0">
        <div className="mb-6 flex flex-wrap items-end gap-x-8 gap-y-4">
          <Figures percentiles={totals} />
          <div className="ml-auto max-sm:ml-0">{choices}</div>
        </div>
        <Suspense>
          {chart.view === 'table' ? <TimesTable buckets={buckets} /> : <Bars buckets={buckets} {...chart} />}
        </Suspense>
      </div>
      <div className="min-w-0">
        <Legend percentiles={selected ? selected.percentiles : totals} bar={selected?.id} />
        {children}
      </div>
    </div>
  );
}

function Figures({ percentiles }: { percentiles: Percentiles | null }) {
  const durationText = useDurationText();
  return PERCENTILES.map((name, index) => (
    <div key={name}>
      <div className="text-hint text-ink-3">{name}</div>
      <div className={index === 0 ? 'text-figure font-semibold' : 'text-section font-normal text-ink-2'}>
        {percentiles ? durationText(msOf(percentiles, name)) : <None />}
      </div>
    </div>
  ));
}

type BarsProps = Pick<TimesPanelProps, 'selected' | 'onSelect'> & { buckets: readonly TimeBucket[] };

function Bars({ buckets, selected, onSelect }: BarsProps) {
  const { t, i18n } = useTranslation();
  const durationText = useDurationText();
  const barText = useBarText();
  if (buckets.every(({ percentiles }) => percentiles === null))
    return (
      <p className="flex h-[224px] items-center justify-center rounded-card bg-sunk text-ink-2">
        {t('usage.noTimes')}
      </p>
    );
  const textOf = ({ id, percentiles }: TimeBucket) =>
    percentiles
      ? t('usage.timeTitle', {
          bar: barText(id),
          times: PERCENTILES.map((name) => `${name} ${durationText(msOf(percentiles, name))}`).join(', '),
        })
      : t('usage.timeTitle', { bar: barText(id), times: t('usage.noTimes') });
  return (
    <BarChart
      label={t('usage.byDay')}
      bars={timeBarsOf(buckets, {
        label: (id, index) => barLabel(id, index, (day) => utcDayText(day, i18n.language)),
        title: textOf,
        durationText,
      })}
      selected={selected}
      words={(amounts) => amounts.map((amount) => (amount === 0 ? '0' : durationText(amount)))}
      onSelect={onSelect}
    />
  );
}

interface LegendProps {
  percentiles: Percentiles | null;
  /** The selected bar; undefined for the whole range. */
  bar: string | undefined;
}

function Legend({ percentiles, bar }: LegendProps) {
  const { t } = useTranslation();
  const durationText = useDurationText();
  const barText = useBarText();
  const requests = percentiles?.requests ?? 0;
  return (
    <>
      <p className="mb-2 text-hint text-ink-3">
        {bar === undefined ? t('usage.wholeRange') : barText(bar)}
        {', '}
        {t('usage.answered', { count: requests })}
      </p>
      <LeaderList>
        {PERCENTILES.map((name, index) => (
          <LeaderRow
            key={name}
            name={
              <span className="flex items-center gap-2.5">
                <span className={clsx(SWATCH, SERIES_TONES[index]?.swatch)} aria-hidden="true" />
                {t(`usage.percentiles.${name}`)}
              </span>
            }
          >
            {percentiles ? durationText(msOf(percentiles, name)) : <None />}
          </LeaderRow>
        ))}
      </LeaderList>
      <p className="mt-3 mb-6 text-hint text-ink-3">{t('usage.timesExplained')}</p>
    </>
  );
}

const SWATCH = 'drawn size-2.5 flex-none rounded-[2px]';
