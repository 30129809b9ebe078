/** The chart of the usage page: cost, requests, tokens or failures over time, by model or key; or a table. */
import { useNavigate } from '@tanstack/react-router';
import { createContext, lazy, type ReactNode, Suspense, use, useDeferredValue, useMemo } from 'react';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { BarChart } from '../../components/bar-chart.tsx';
import { Segmented } from '../../components/field.tsx';
import { Money, moneyText } from '../../components/money.tsx';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { FIRST_PAGE } from '../../components/search-parameters.ts';
import { utcDayText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { useAmountWords } from './amount-text.ts';
import { barLabel, useBarText } from './bar-text.ts';
import type { UsageConditions } from './conditions.ts';
import { type Summary, type SummaryPoint, SummaryQuery } from './documents.ts';
import { DIMENSIONS, MEASURES, type UsageSearch } from './search.ts';
import { daysIn, rangeBefore, type Span, spanOf } from './span.ts';
import {
  amountOf,
  barsOf,
  type Bucket,
  bucketsOf,
  type Measure,
  type Series,
  seriesOf,
  sumsOf,
} from './summary.ts';
import { Legend } from './usage-legend.tsx';

const SummaryTable = lazy(async () => ({ default: (await import('./summary-table.tsx')).SummaryTable }));
const UsageTimes = lazy(async () => ({ default: (await import('./usage-times.tsx')).UsageTimes }));
const PERCENT = 100;

interface ChartsProps {
  search: UsageSearch;
  filter: UsageConditions;
}

/** The present address, which the choices show at once. The charts follow it. */
const PresentSearch = createContext<UsageSearch>({});

/**
 * The chart. A selected bar filters the log and the legend, not the chart. After a press, the browser shows
 * the pressed choice first. The chart follows in short tasks, so that it delays no further input.
 */
export function UsageCharts(props: ChartsProps) {
  return (
    <PresentSearch value={props.search}>
      <Asking {...props} />
    </PresentSearch>
  );
}

function Asking({ search, filter }: ChartsProps) {
  const { days, from, to } = search;
  const span = useMemo(() => spanOf({ days, from, to }, Date.now()), [days, from, to]);
  const measure = search.measure ?? 'cost';
  if (measure !== 'ttft' && measure !== 'duration')
    return <SumCharts {...{ search, filter, span, measure }} />;
  return (
    <Suspense fallback={<SkeletonRows rows={6} />}>
      <UsageTimes {...{ search, filter, span, measure }} choices={<Choices />} />
    </Suspense>
  );
}

function SumCharts({ search, filter, span, measure }: ChartsProps & { span: Span; measure: Measure }) {
  const { t } = useTranslation();
  const variables = useMemo(() => {
    const { range: _day, ...conditions } = filter;
    const groupBy = [search.by === 'key' ? ('KEY' as const) : ('MODEL' as const)];
    const { bucket, ...range } = span;
    return { range, before: rangeBefore(range), filter: conditions, groupBy, bucket };
  }, [span, filter, search.by]);
  const [{ data, error, fetching }, again] = useQuery({ query: SummaryQuery, variables });
  const viewer = data?.viewer;
  const charts = viewer && (
    <Charts {...{ search, span, measure }} now={viewer.now} before={viewer.before.series} />
  );
  // The first answer is drawn at once. Nothing in this element asks the service: see the decision.
  const drawn = useDeferredValue(charts) ?? charts;
  if (drawn) return drawn;
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
  measure: Measure;
  span: Span;
  now: Summary;
  before: readonly SummaryPoint[];
}

function Charts({ search, measure, span, now, before }: LoadedProps) {
  const { t } = useTranslation();
  const series = seriesOf(now.groups, measure);
  const buckets = bucketsOf({ span, points: now.series, before, series, measure });
  const selected = buckets.find(({ id }) => id === search.day);
  return (
    <section aria-label={t('usage.charts')} className="mb-8 border-b border-line pb-8">
      <div className="grid grid-cols-[1fr_300px] gap-x-9 gap-y-6 max-xl:grid-cols-1">
        <div className="min-w-0">
          <ChartHead {...{ measure, span, now }} />
          <Suspense>
            {search.view === 'table' ? (
              <SummaryTable {...{ buckets, series, measure }} />
            ) : (
              <Buckets {...{ search, measure, buckets, series }} />
            )}
          </Suspense>
        </div>
        <Legend
          {...{ search, measure, series }}
          sums={sumsOf([now.totals])}
          bucket={selected}
          asOf={now.asOf}
        />
      </div>
    </section>
  );
}

function ChartHead({ measure, span, now }: Omit<LoadedProps, 'search' | 'before'>) {
  const { t } = useTranslation();
  const { textOf } = useAmountWords(measure);
  const days = daysIn(span);
  const previous = days > 1 ? t('usage.previous', { count: days }) : t('usage.previousDay');
  const figure = (totals: Summary['totals']) =>
    measure === 'cost' ? <Money amount={totals.cost} /> : textOf(sumsOf([totals]));
  return (
    <div className="mb-6 flex flex-wrap items-end gap-x-8 gap-y-4">
      <div>
        <div className="text-hint text-ink-3">{t(`usage.measures.${measure}`)}</div>
        <div className="text-figure font-semibold">{figure(now.totals)}</div>
      </div>
      {now.previousTotals && <Figure name={previous}>{figure(now.previousTotals)}</Figure>}
      <Share
        name={t('usage.failureRate')}
        part={now.totals.failed}
        all={measure === 'tokens' || measure === 'rate' ? 0 : now.totals.requests}
      />
      <Share
        name={t('usage.fromCache')}
        part={Number(now.totals.cachedTokens)}
        all={measure === 'failed' || measure === 'rate' ? 0 : Number(now.totals.inputTokens)}
      />
      <Choices />
    </div>
  );
}

function Choices() {
  const { t } = useTranslation();
  const search = use(PresentSearch);
  const navigate = useNavigate({ from: '/usage' });
  const set = (change: Partial<UsageSearch>) => void navigate({ search: { ...search, ...change } });
  return (
    <div className="ml-auto flex flex-wrap gap-3 max-sm:ml-0">
      <Segmented
        label={t('usage.measure')}
        value={search.measure ?? 'cost'}
        options={MEASURES.map((value) => ({ value, word: t(`usage.measures.${value}`) }))}
        onChange={(measure) => set({ measure: measure === 'cost' ? undefined : measure })}
      />
      <Segmented
        label={t('usage.split')}
        value={search.by ?? 'model'}
        options={DIMENSIONS.map((value) => ({ value, word: t(`usage.splits.${value}`) }))}
        onChange={(by) => set({ by: by === 'model' ? undefined : by })}
      />
    </div>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <div className="text-hint text-ink-3">{name}</div>
      <div className="text-section font-normal text-ink-2">{children}</div>
    </div>
  );
}

/** A share in percent; nothing of nothing. */
function Share({ name, part, all }: { name: string; part: number; all: number }) {
  const { t, i18n } = useTranslation();
  if (all === 0) return null;
  const share = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 });
  return (
    <Figure name={name}>{t('usage.shareOfTokens', { value: share.format((PERCENT * part) / all) })}</Figure>
  );
}

interface BucketsProps {
  search: UsageSearch;
  measure: Measure;
  buckets: readonly Bucket[];
  series: readonly Series[];
}

/** The bars, or a sentence if every bar would be empty. */
function Buckets(props: BucketsProps) {
  const { t } = useTranslation();
  const { measure } = props;
  if (props.buckets.some(({ before, sums }) => before > 0 || amountOf(sums, measure) > 0))
    return <Bars {...props} />;
  return (
    <p className="flex h-[224px] items-center justify-center rounded-card bg-sunk text-ink-2">
      {t(`usage.nothing.${measure}`)}
    </p>
  );
}

function Bars({ search, measure, buckets, series }: BucketsProps) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate({ from: '/usage' });
  const barText = useBarText();
  const { textOf, gridWords } = useAmountWords(measure);
  const bars = barsOf(buckets, measure, {
    label: (id, index) => barLabel(id, index, (day) => utcDayText(day, i18n.language)),
    title: ({ id, sums }) =>
      t('usage.dayTitle', { day: barText(id), cost: moneyText(sums.cost), count: sums.requests }),
    lines: ({ parts }) =>
      series.map(({ key, keys, label }, index) => ({
        name: key === undefined ? t('usage.others', { count: keys.length }) : label,
        value: textOf(parts[index] ?? sumsOf([])),
      })),
  });
  return (
    <BarChart
      label={t('usage.byDay')}
      bars={bars}
      selected={search.day}
      words={gridWords}
      onSelect={(id) =>
        void navigate({
          search: (present) => ({ ...present, ...FIRST_PAGE, day: id === present.day ? undefined : id }),
          resetScroll: false,
        })
      }
    />
  );
}
