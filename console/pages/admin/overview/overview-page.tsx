/** The administrators' overview: the last 24 hours, what needs attention, and what is left to set up. */
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { useQuery } from 'urql';
import { BarChart } from '../../../components/bar-chart.tsx';
import { Money, moneyText } from '../../../components/money.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { utcDayText } from '../../../components/time.tsx';
import { useEvery } from '../../../components/use-now.ts';
import { useTranslation } from '../../../translation.ts';
import { barLabel, useBarText } from '../../usage/bar-text.ts';
import { barsOf, bucketsOf, moneyWords, seriesOf, type Span, spanOf } from '../../usage/summary.ts';
import { Region } from '../region.tsx';
import { Attention } from './attention.tsx';
import { type Overview, OverviewQuery } from './documents.ts';
import { SetUpList } from './set-up-list.tsx';
import { Top } from './top.tsx';

const REFRESH_MS = 30_000;
const PERCENT = 100;

/** The page; it refreshes itself every 30 s. */
export function OverviewPage() {
  const { t } = useTranslation();
  const span = useMemo(() => spanOf({ days: '1' }, Date.now()), []);
  const day = useMemo(() => ({ from: span.from, to: span.to }), [span]);
  const [{ data, error }, again] = useQuery({ query: OverviewQuery, variables: { day } });
  useEvery(REFRESH_MS, () => {
    again({ requestPolicy: 'network-only' });
  });
  return (
    <>
      <PageHead title={t('admin.places.overview')} sentence={t('admin.overview.sentence')} />
      <Region
        data={data?.admin && { admin: data.admin, catalog: data.catalog }}
        error={error}
        onRetry={again}
      >
        {({ admin, catalog }) => (
          <div className="flex flex-col gap-10">
            <SetUpList admin={admin} models={catalog.totalCount} />
            <Attention admin={admin} />
            <LastDay admin={admin} span={span} />
            <div className="grid grid-cols-2 gap-x-10 gap-y-8 max-lg:grid-cols-1">
              <Top title={t('admin.overview.topModels')} groups={admin.models.groups} kind="model" />
              <Top title={t('admin.overview.topUsers')} groups={admin.users.groups} kind="user" />
            </div>
          </div>
        )}
      </Region>
    </>
  );
}

function LastDay({ admin: { models }, span }: { admin: Overview; span: Span }) {
  const { t, i18n } = useTranslation();
  const { totals, previousTotals } = models;
  const number = new Intl.NumberFormat(i18n.language);
  const share = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 });
  const rate = ({ failed, requests }: Overview['models']['totals']) =>
    t('admin.overview.percent', { value: share.format(requests === 0 ? 0 : (PERCENT * failed) / requests) });
  return (
    <section>
      <h2 className="mb-3 text-section">{t('admin.overview.lastDay')}</h2>
      <dl className="mb-6 flex flex-wrap gap-x-12 gap-y-4">
        <Figure
          name={t('admin.overview.requests')}
          before={previousTotals && number.format(previousTotals.requests)}
        >
          {number.format(totals.requests)}
        </Figure>
        <Figure name={t('admin.overview.revenue')} before={previousTotals && moneyText(previousTotals.cost)}>
          <Money amount={totals.cost} />
        </Figure>
        <Figure name={t('admin.overview.failureRate')} before={previousTotals && rate(previousTotals)}>
          {rate(totals)}
        </Figure>
      </dl>
      <Hours models={models} span={span} />
    </section>
  );
}

interface FigureProps {
  name: string;
  /** The figure of the day before. */
  before: string | null;
  children: ReactNode;
}

function Figure({ name, before, children }: FigureProps) {
  const { t } = useTranslation();
  return (
    <div>
      <dt className="text-hint text-ink-3">{name}</dt>
      <dd>
        <span className="text-figure font-semibold">{children}</span>
        {before !== null && (
          <span className="ml-3 text-ink-2">{t('admin.overview.before', { value: before })}</span>
        )}
      </dd>
    </div>
  );
}

function Hours({ models, span }: { models: Overview['models']; span: Span }) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const barText = useBarText();
  const series = seriesOf(models.groups, 'cost');
  const buckets = bucketsOf({ span, points: models.series, before: [], series, measure: 'cost' });
  if (models.totals.requests === 0)
    return (
      <p className="rounded-card bg-sunk px-4 py-10 text-center text-ink-2">{t('admin.overview.nothing')}</p>
    );
  const bars = barsOf(buckets, 'cost', {
    label: (id, index) => barLabel(id, index, (day) => utcDayText(day, i18n.language)),
    title: ({ id, sums }) =>
      t('admin.overview.hourTitle', { hour: barText(id), cost: moneyText(sums.cost), count: sums.requests }),
    lines: ({ parts }) =>
      series.map(({ key, keys, label }, index) => ({
        name: key === undefined ? t('admin.overview.others', { count: keys.length }) : label,
        value: moneyText(parts[index]?.cost ?? '0'),
      })),
  });
  return (
    <BarChart
      label={t('admin.overview.byHour')}
      bars={bars}
      selected={undefined}
      words={moneyWords}
      onSelect={() => void navigate({ to: '/admin/health' })}
    />
  );
}
