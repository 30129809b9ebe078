/** Bars of requests or failure rates of upstreams or nodes, below their sums. */
import type { ReactNode } from 'react';
import { BarChart } from '../../../components/bar-chart.tsx';
import { useDurationText } from '../../../components/duration.ts';
import { utcDayText } from '../../../components/time.tsx';
import { useTranslation } from '../../../translation.ts';
import { useAmountWords } from '../../usage/amount-text.ts';
import { barLabel, useBarText } from '../../usage/bar-text.ts';
import type { Span } from '../../usage/span.ts';
import { barsOf, bucketsOf, seriesOf, sumsOf } from '../../usage/summary.ts';
import type { Figures, Traffic } from './documents.ts';
import { ExtraText } from './extra-requests.tsx';

interface TrafficBarsProps {
  traffic: Traffic;
  span: Span;
  measure: 'requests' | 'rate';
  choices: ReactNode;
  selected: string | undefined;
  onSelect: (id: string) => void;
}

/** Traffic as sums of the usage charts, which also have tokens and costs. */
export function totalsOf({ requests, failed }: Pick<Figures, 'requests' | 'failed'>) {
  return { requests, failed, cost: '0', inputTokens: '0', outputTokens: '0' };
}

/** The order of the colours: the upstreams or nodes with the most requests first, as in the table. */
export function trafficSeries({ rows }: Traffic) {
  const groups = rows.map(({ subjectId, name, figures }) => ({
    ...{ key: subjectId, label: name },
    totals: totalsOf(figures),
  }));
  return seriesOf(groups, 'requests');
}

/** The bars. */
export function TrafficBars({ traffic, span, measure, choices, selected, onSelect }: TrafficBarsProps) {
  const { t, i18n } = useTranslation();
  const barText = useBarText();
  const { textOf, gridWords } = useAmountWords(measure);
  const series = trafficSeries(traffic);
  const points = traffic.series
    .filter(({ subjectId }) => subjectId !== null)
    .map(({ at, subjectId, figures }) => ({ at, key: subjectId, totals: totalsOf(figures) }));
  const buckets = bucketsOf({ span, points, before: [], series, measure });
  const bars = barsOf(buckets, measure, {
    label: (id, index) => barLabel(id, index, (day) => utcDayText(day, i18n.language)),
    title: ({ id, sums }) =>
      t('usage.trafficTitle', { bar: barText(id), count: sums.requests, failed: sums.failed }),
    lines: ({ parts }) =>
      series.map(({ key, keys, label }, index) => ({
        name: key === undefined ? t('usage.others', { count: keys.length }) : label,
        value: textOf(parts[index] ?? sumsOf([])),
      })),
  });
  return (
    <>
      <div className="mb-6 flex flex-wrap items-end gap-x-8 gap-y-4">
        <Sums figures={traffic.totals} />
        <div className="ml-auto max-sm:ml-0">{choices}</div>
      </div>
      {traffic.totals.requests === 0 ? (
        <p className="flex h-[224px] items-center justify-center rounded-card bg-sunk text-ink-2">
          {t('usage.nothing.requests')}
        </p>
      ) : (
        <BarChart
          label={t('usage.byDay')}
          bars={bars}
          selected={selected}
          words={gridWords}
          onSelect={onSelect}
        />
      )}
    </>
  );
}

/** The sums of the whole range. */
function Sums({ figures }: { figures: Figures }) {
  const { t, i18n } = useTranslation();
  const durationText = useDurationText();
  const rate = useAmountWords('rate');
  const { ttft, duration } = figures.timings;
  return (
    <>
      <Sum name={t('usage.requests')}>
        <span className="text-figure font-semibold text-ink">
          {new Intl.NumberFormat(i18n.language).format(figures.requests)}
        </span>
      </Sum>
      {figures.requests > 0 && (
        <Sum name={t('usage.failureRate')}>{rate.textOf(sumsOf([totalsOf(figures)]))}</Sum>
      )}
      {ttft && <Sum name={t('usage.ttftP95')}>{durationText(ttft.p95Ms)}</Sum>}
      {duration && <Sum name={t('usage.durationP95')}>{durationText(duration.p95Ms)}</Sum>}
      {figures.extra.requests > 0 && (
        <Sum name={t('usage.extra.title')}>
          <ExtraText extra={figures.extra} />
        </Sum>
      )}
    </>
  );
}

function Sum({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <div className="text-hint text-ink-3">{name}</div>
      <div className="text-section font-normal text-ink-2">{children}</div>
    </div>
  );
}
