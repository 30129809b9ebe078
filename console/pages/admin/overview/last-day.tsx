/** The figures of the last 24 hours, and charts of them by hour. */
import { useNavigate } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { BarChart } from '../../../components/bar-chart.tsx';
import { useDurationText } from '../../../components/duration.ts';
import { Segmented } from '../../../components/field.tsx';
import { LeaderList, LeaderRow, LeaderSum } from '../../../components/leader-row.tsx';
import { Money, moneyText } from '../../../components/money.tsx';
import { utcDayText } from '../../../components/time.tsx';
import { useTranslation } from '../../../translation.ts';
import { useAmountWords } from '../../usage/amount-text.ts';
import { barLabel, useBarText } from '../../usage/bar-text.ts';
import { MEASURES } from '../../usage/search.ts';
import { SeriesName } from '../../usage/series-name.tsx';
import type { Span } from '../../usage/span.ts';
import { barsOf, bucketsOf, type Measure, type Series, seriesOf, sumsOf } from '../../usage/summary.ts';
import type { Overview } from './documents.ts';

const TimesPanel = lazy(async () => ({ default: (await import('../../usage/times-panel.tsx')).TimesPanel }));

interface LastDayProps {
  admin: Overview;
  span: Span;
}

/** The figures, and one chart. */
export function LastDay({ admin: { models }, span }: LastDayProps) {
  const { t } = useTranslation();
  const [measure, setMeasure] = useState<(typeof MEASURES)[number]>('cost');
  const navigate = useNavigate();
  const onSelect = () => void navigate({ to: '/admin/health' });
  const choices = (
    <Segmented
      label={t('usage.measure')}
      value={measure}
      options={MEASURES.map((value) => ({ value, word: t(`usage.measures.${value}`) }))}
      onChange={setMeasure}
    />
  );
  return (
    <section>
      <h2 className="mb-3 text-section">{t('admin.overview.lastDay')}</h2>
      <Figures models={models} />
      {measure === 'ttft' || measure === 'duration' ? (
        <Suspense>
          <TimesPanel
            {...{ span, choices, onSelect }}
            totals={models.timings.totals[measure]}
            series={models.timings.series.map(({ at, timings }) => ({ at, percentiles: timings[measure] }))}
            selected={undefined}
            view="chart"
          />
        </Suspense>
      ) : (
        <>
          <div className="mb-6">{choices}</div>
          <Hours {...{ models, span, measure, onSelect }} />
        </>
      )}
    </section>
  );
}

function Figures({ models: { totals, previousTotals, timings } }: Pick<Overview, 'models'>) {
  const { t, i18n } = useTranslation();
  const durationText = useDurationText();
  const { textOf } = useAmountWords('rate');
  const number = new Intl.NumberFormat(i18n.language);
  const { ttft, duration } = timings.totals;
  return (
    <dl className="mb-6 grid grid-cols-[repeat(auto-fit,minmax(140px,1fr))] gap-x-8 gap-y-4">
      <Figure
        name={t('admin.overview.requests')}
        before={previousTotals && number.format(previousTotals.requests)}
      >
        {number.format(totals.requests)}
      </Figure>
      <Figure name={t('admin.overview.revenue')} before={previousTotals && moneyText(previousTotals.cost)}>
        <Money amount={totals.cost} />
      </Figure>
      <Figure
        name={t('admin.overview.failureRate')}
        before={previousTotals && textOf(sumsOf([previousTotals]))}
      >
        {textOf(sumsOf([totals]))}
      </Figure>
      {ttft && (
        <Figure name={t('usage.ttftP95')} before={null}>
          {durationText(ttft.p95Ms)}
        </Figure>
      )}
      {duration && (
        <Figure name={t('usage.durationP95')} before={null}>
          {durationText(duration.p95Ms)}
        </Figure>
      )}
    </dl>
  );
}

interface FigureProps {
  name: string;
  /** The figure of the day before; null if it is unknown. */
  before: string | null;
  children: ReactNode;
}

function Figure({ name, before, children }: FigureProps) {
  const { t } = useTranslation();
  return (
    <div>
      <dt className="text-hint text-ink-3">{name}</dt>
      <dd>
        <div className="text-figure font-semibold">{children}</div>
        {before !== null && (
          <div className="text-table text-ink-2">{t('admin.overview.before', { value: before })}</div>
        )}
      </dd>
    </div>
  );
}

interface HoursProps {
  models: Overview['models'];
  span: Span;
  measure: Measure;
  onSelect: () => void;
}

function Hours({ models, span, measure, onSelect }: HoursProps) {
  const { t, i18n } = useTranslation();
  const barText = useBarText();
  const { textOf, gridWords } = useAmountWords(measure);
  const series = seriesOf(models.groups, measure);
  const buckets = bucketsOf({ span, points: models.series, before: [], series, measure });
  if (
    sumsOf([models.totals])[measure === 'cost' ? 'requests' : measure === 'rate' ? 'failed' : measure] === 0
  )
    return (
      <p className="rounded-card bg-sunk px-4 py-10 text-center text-ink-2">
        {t(`usage.nothing.${measure}`)}
      </p>
    );
  const bars = barsOf(buckets, measure, {
    label: (id, index) => barLabel(id, index, (day) => utcDayText(day, i18n.language)),
    title: ({ id, sums }) =>
      t('admin.overview.hourTitle', { hour: barText(id), cost: moneyText(sums.cost), count: sums.requests }),
    lines: ({ parts }) =>
      series.map(({ key, keys, label }, index) => ({
        name: key === undefined ? t('admin.overview.others', { count: keys.length }) : label,
        value: textOf(parts[index] ?? sumsOf([])),
      })),
  });
  return (
    <div className="grid grid-cols-[1fr_300px] gap-x-9 gap-y-6 max-xl:grid-cols-1">
      <div className="min-w-0">
        <BarChart
          label={t('admin.overview.byHour')}
          bars={bars}
          selected={undefined}
          words={gridWords}
          onSelect={onSelect}
        />
      </div>
      <Legend {...{ models, measure, series }} />
    </div>
  );
}

interface LegendProps extends Pick<HoursProps, 'models' | 'measure'> {
  series: readonly Series[];
}

/** Each series with its sum of the last 24 hours. */
function Legend({ models: { totals }, measure, series }: LegendProps) {
  const { t } = useTranslation();
  const { textOf } = useAmountWords(measure);
  return (
    <div className="min-w-0">
      <p className="mb-2 text-hint text-ink-3">{t('usage.model')}</p>
      <LeaderList>
        {series.map(({ key, keys, label, sums }, index) => (
          <LeaderRow
            key={key ?? 'others'}
            name={
              <SeriesName index={measure === 'rate' ? undefined : index}>
                <span className="[overflow-wrap:anywhere]">
                  {key === undefined ? t('admin.overview.others', { count: keys.length }) : label}
                </span>
              </SeriesName>
            }
          >
            {measure === 'cost' ? <Money amount={sums.cost} className="font-semibold" /> : textOf(sums)}
          </LeaderRow>
        ))}
        <LeaderSum name={t('usage.count', { count: totals.requests })}>
          <Money amount={totals.cost} />
        </LeaderSum>
      </LeaderList>
    </div>
  );
}
