/** The chart of the usage page: cost or requests by day, grouped by model or key; also as a table. */
import { useNavigate } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { lazy, Suspense, useMemo } from 'react';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { BarChart } from '../../components/bar-chart.tsx';
import { SERIES_TONES } from '../../components/chart-series.ts';
import { Segmented } from '../../components/field.tsx';
import { LeaderList, LeaderRow, LeaderSum } from '../../components/leader-row.tsx';
import { Money, moneyText } from '../../components/money.tsx';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { stampText, utcDayText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import type { UsageConditions } from './conditions.ts';
import { type Summary, type SummaryPoint, SummaryQuery } from './documents.ts';
import { DIMENSIONS, MEASURES, type UsageSearch } from './search.ts';
import {
  barsOf,
  type Day,
  daysOf,
  moneyWords,
  type Series,
  seriesOf,
  type Span,
  spanBefore,
  spanOf,
} from './summary.ts';

const SummaryTable = lazy(async () => ({ default: (await import('./summary-table.tsx')).SummaryTable }));
const DAYS_DEFAULT = 14;
// With forced colours, swatches keep the colours of the bars and get an outline.
const SWATCH =
  'size-2.5 rounded-[2px] forced-color-adjust-none forced-colors:outline forced-colors:outline-[CanvasText]';

interface ChartsProps {
  search: UsageSearch;
  filter: UsageConditions;
}

/** The chart. A selected day filters only the log, not the chart. */
export function UsageCharts({ search, filter }: ChartsProps) {
  const { t } = useTranslation();
  const days = daysIn(search);
  const span = useMemo(() => spanOf(days, Date.now()), [days]);
  const variables = useMemo(() => {
    const { range: _day, ...conditions } = filter;
    const groupBy = [search.by === 'key' ? ('KEY' as const) : ('MODEL' as const)];
    return { range: span, before: spanBefore(span), filter: conditions, groupBy };
  }, [span, filter, search.by]);
  const [{ data, error, fetching }, again] = useQuery({ query: SummaryQuery, variables });
  const viewer = data?.viewer;
  if (viewer) return <Charts {...{ search, span }} now={viewer.now} before={viewer.before.series} />;
  if (error) {
    return (
      <Failure
        title={t('usage.chartFailed')}
        safe={t('usage.failedSafe')}
        requestId={requestIdOf(error)}
        onRetry={again}
      />
    );
  }
  return fetching ? <SkeletonRows rows={6} /> : null;
}

interface LoadedProps {
  search: UsageSearch;
  span: Span;
  now: Summary;
  before: readonly SummaryPoint[];
}

function Charts({ search, span, now, before }: LoadedProps) {
  const { t } = useTranslation();
  const measure = search.measure ?? 'cost';
  const series = seriesOf(now.groups, measure);
  const days = daysOf({ span, points: now.series, before, series, measure });
  return (
    <section aria-label={t('usage.charts')} className="mb-8 border-b border-line pb-8">
      <div className="grid grid-cols-[1fr_300px] gap-x-9 gap-y-6 max-xl:grid-cols-1">
        <div className="min-w-0">
          <ChartHead search={search} now={now} />
          <Suspense>
            {search.view === 'table' ? <SummaryTable days={days} /> : <Days search={search} days={days} />}
          </Suspense>
        </div>
        <Legend search={search} series={series} now={now} />
      </div>
    </section>
  );
}

function ChartHead({ search, now }: Pick<LoadedProps, 'search' | 'now'>) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate({ from: '/usage' });
  const measure = search.measure ?? 'cost';
  const figure = (totals: Summary['totals']) =>
    measure === 'cost' ? (
      <Money amount={totals.cost} />
    ) : (
      new Intl.NumberFormat(i18n.language).format(totals.requests)
    );
  return (
    <div className="mb-6 flex flex-wrap items-end gap-x-8 gap-y-4">
      <div>
        <div className="text-hint text-ink-3">{t(`usage.measures.${measure}`)}</div>
        <div className="text-figure font-semibold">{figure(now.totals)}</div>
      </div>
      {now.previousTotals && (
        <div>
          <div className="text-hint text-ink-3">{t('usage.previousDays', { count: daysIn(search) })}</div>
          <div className="text-section font-normal text-ink-2">{figure(now.previousTotals)}</div>
        </div>
      )}
      <FromCache totals={now.totals} />
      <div className="ml-auto flex flex-wrap gap-3 max-sm:ml-0">
        <Segmented
          label={t('usage.measure')}
          value={measure}
          options={MEASURES.map((value) => ({ value, word: t(`usage.measures.${value}`) }))}
          onChange={(next) =>
            void navigate({ search: { ...search, measure: next === 'cost' ? undefined : next } })
          }
        />
        <Segmented
          label={t('usage.split')}
          value={search.by ?? 'model'}
          options={DIMENSIONS.map((value) => ({ value, word: t(`usage.splits.${value}`) }))}
          onChange={(next) =>
            void navigate({ search: { ...search, by: next === 'model' ? undefined : next } })
          }
        />
      </div>
    </div>
  );
}

/** The share of the input that providers read from their prompt caches; nothing without input. */
function FromCache({ totals: { inputTokens, cachedTokens } }: { totals: Summary['totals'] }) {
  const { t, i18n } = useTranslation();
  const all = Number(inputTokens);
  if (all === 0) return null;
  const share = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 });
  return (
    <div>
      <div className="text-hint text-ink-3">{t('usage.fromCache')}</div>
      <div className="text-section font-normal text-ink-2">
        {t('usage.shareOfTokens', { value: share.format((100 * Number(cachedTokens)) / all) })}
      </div>
    </div>
  );
}

/** How many days the charts cover. */
function daysIn({ days }: UsageSearch): number {
  return days === undefined ? DAYS_DEFAULT : Number(days);
}

/** The bars, or a sentence if every bar would be empty. */
function Days({ search, days }: { search: UsageSearch; days: readonly Day[] }) {
  const { t } = useTranslation();
  if (days.some(({ values, before }) => before > 0 || values.some((value) => value > 0)))
    return <DayBars search={search} days={days} />;
  return (
    <p className="flex h-[224px] items-center justify-center rounded-card bg-sunk text-ink-2">
      {t(search.measure === 'requests' ? 'usage.noRequests' : 'usage.noCost')}
    </p>
  );
}

function DayBars({ search, days }: { search: UsageSearch; days: readonly Day[] }) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate({ from: '/usage' });
  const number = new Intl.NumberFormat(i18n.language);
  const bars = barsOf(days, {
    label: (id) =>
      id.endsWith('-01') || id === days[0]?.id ? utcDayText(id, i18n.language) : String(Number(id.slice(8))),
    title: (day) =>
      t('usage.dayTitle', {
        day: utcDayText(day.id, i18n.language),
        cost: moneyText(day.cost),
        count: day.requests,
      }),
  });
  return (
    <BarChart
      label={t('usage.byDay')}
      bars={bars}
      selected={search.day}
      words={(amounts) =>
        search.measure === 'requests' ? amounts.map((amount) => number.format(amount)) : moneyWords(amounts)
      }
      onSelect={(id) =>
        void navigate({
          search: { ...search, after: undefined, day: id === search.day ? undefined : id },
          resetScroll: false,
        })
      }
    />
  );
}

function Legend({ search, series, now }: { search: UsageSearch; series: readonly Series[]; now: Summary }) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate({ from: '/usage' });
  const number = new Intl.NumberFormat(i18n.language);
  const table = search.view === 'table';
  const { requests } = now.totals;
  const value = (one: Series) =>
    search.measure === 'requests' ? (
      number.format(one.requests)
    ) : (
      <Money amount={one.cost} className="font-semibold" />
    );
  return (
    <div>
      <div className="mb-2 flex items-baseline justify-between text-table">
        <span className="text-hint text-ink-3">{t(`usage.${search.by ?? 'model'}`)}</span>
        <button
          type="button"
          className="font-[550] text-accent touch:h-11"
          onClick={() =>
            void navigate({ search: { ...search, view: table ? undefined : 'table' }, resetScroll: false })
          }
        >
          {table ? t('usage.showChart') : t('usage.showTable')}
        </button>
      </div>
      <LeaderList>
        {series.map((one, index) => (
          <LeaderRow
            key={one.key ?? 'others'}
            name={
              <span className="flex items-center gap-2.5">
                <span className={clsx(SWATCH, SERIES_TONES[index]?.swatch)} aria-hidden="true" />
                {one.key === undefined ? t('usage.others', { count: one.keys.length }) : one.label}
              </span>
            }
          >
            {value(one)}
          </LeaderRow>
        ))}
        <LeaderSum name={t('usage.count', { count: requests, shown: number.format(requests) })}>
          <Money amount={now.totals.cost} />
        </LeaderSum>
      </LeaderList>
      <p className="mt-3 text-hint text-ink-3">
        {t('usage.dashed')} {t('state.asOf', { time: stampText(new Date(now.asOf), i18n.language, true) })}
      </p>
    </div>
  );
}
