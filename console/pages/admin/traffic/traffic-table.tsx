/** The figures of each upstream or node, of the whole range or of the selected bar. */
import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { SERIES_TONES } from '../../../components/chart-series.ts';
import { type Column, DataTable } from '../../../components/data-table.tsx';
import { useDurationText } from '../../../components/duration.ts';
import { None } from '../../../components/duration-text.tsx';
import { type TFunction, useTranslation } from '../../../translation.ts';
import { useAmountWords } from '../../usage/amount-text.ts';
import { useBarText } from '../../usage/bar-text.ts';
import { sumsOf } from '../../usage/summary.ts';
import type { Percentiles } from '../../usage/times.ts';
import type { Figures, Traffic, TrafficRow } from './documents.ts';
import { ExtraText } from './extra-requests.tsx';
import type { TRAFFIC_MEASURES } from './search.ts';
import { totalsOf, trafficSeries } from './traffic-bars.tsx';

interface TrafficTableProps {
  subject: 'UPSTREAM' | 'NODE';
  traffic: Traffic;
  /** The selected bar; undefined for the whole range. */
  bar: string | undefined;
  measure: (typeof TRAFFIC_MEASURES)[number];
}

interface Words {
  t: TFunction;
  rate: (figures: Figures) => string;
  number: Intl.NumberFormat;
  times: (percentiles: Percentiles | null) => string | undefined;
}

const NO_FIGURES: Figures = {
  requests: 0,
  failed: 0,
  timings: { __typename: 'RequestTimings', ttft: null, duration: null },
  extra: { requests: 0, withoutCost: 0, cost: '0' },
};

/** The table; nothing without traffic. */
export function TrafficTable({ subject, traffic, bar, measure }: TrafficTableProps) {
  const { t } = useTranslation();
  const words = useWords();
  const barText = useBarText();
  if (traffic.rows.length === 0) return null;
  const tones = new Map(
    trafficSeries(traffic).flatMap(({ keys }, index) =>
      keys.map((key) => [key, measure === 'requests' ? SERIES_TONES[index]?.swatch : undefined] as const),
    ),
  );
  const rows = bar === undefined ? traffic.rows : traffic.rows.map((row) => inBar(row, traffic, bar));
  const name = (row: TrafficRow) => <Name subject={subject} row={row} tone={tones.get(row.subjectId)} />;
  const time = bar === undefined ? t('usage.wholeRange') : barText(bar);
  return (
    <div className="mt-6">
      <p className="mb-2 text-hint text-ink-3">{time}</p>
      <DataTable
        label={t(`usage.eachSubject.${subject}`)}
        rows={rows}
        idOf={({ subjectId }) => subjectId}
        dense
        columns={[
          ...columnsOf(words, t(`usage.subjects.${subject}`), name),
          ...(traffic.totals.extra.requests > 0 ? [extraColumn(t)] : []),
        ]}
        card={(row) => <Card row={row} words={words} name={name(row)} />}
      />
    </div>
  );
}

function useWords(): Words {
  const { t, i18n } = useTranslation();
  const durationText = useDurationText();
  const { textOf } = useAmountWords('rate');
  return {
    t,
    rate: (figures) => textOf(sumsOf([totalsOf(figures)])),
    number: new Intl.NumberFormat(i18n.language),
    times: (percentiles) =>
      percentiles
        ? t('usage.p50AndP95', { p50: durationText(percentiles.p50Ms), p95: durationText(percentiles.p95Ms) })
        : undefined,
  };
}

function inBar(row: TrafficRow, { series }: Traffic, bar: string): TrafficRow {
  const point = series.find(({ at, subjectId }) => subjectId === row.subjectId && at.startsWith(bar));
  return { ...row, figures: point?.figures ?? NO_FIGURES };
}

function columnsOf(
  { t, rate, number, times }: Words,
  subject: string,
  name: (row: TrafficRow) => ReactNode,
): Column<TrafficRow>[] {
  const text = (id: string, header: string, value: (figures: Figures) => string | undefined) => ({
    ...{ id, header, meta: { right: true } },
    cell: ({ row }: { row: { original: TrafficRow } }) => value(row.original.figures) ?? <None />,
  });
  return [
    { id: 'name', header: subject, cell: ({ row }) => name(row.original) },
    text('requests', t('usage.requests'), ({ requests }) => number.format(requests)),
    text('rate', t('usage.failureRate'), (figures) => (figures.requests > 0 ? rate(figures) : undefined)),
    text('ttft', t('usage.measures.ttft'), ({ timings }) => times(timings.ttft)),
    text('duration', t('usage.measures.duration'), ({ timings }) => times(timings.duration)),
  ];
}

/** Number and cost of extra requests; only shown if there are any in the range. */
function extraColumn(t: TFunction): Column<TrafficRow> {
  return {
    ...{ id: 'extra', header: t('usage.extra.title'), meta: { right: true } },
    cell: ({ row: { original } }) => <Extra figures={original.figures} />,
  };
}

function Extra({ figures: { extra } }: { figures: Figures }) {
  return extra.requests > 0 ? <ExtraText extra={extra} /> : <None />;
}

interface NameProps {
  subject: TrafficTableProps['subject'];
  row: TrafficRow;
  /** The colour in the chart; undefined if the chart shows all together. */
  tone: string | undefined;
}

function Name({ subject, row: { subjectId: id, name }, tone }: NameProps) {
  return (
    <span className="flex min-w-0 items-center gap-2.5">
      {tone !== undefined && <span className={clsx(SWATCH, tone)} aria-hidden="true" />}
      {subject === 'UPSTREAM' && name !== id ? (
        <Link
          to="/admin/upstreams/$id"
          params={{ id }}
          className="rounded-tag text-accent underline [overflow-wrap:anywhere]"
        >
          {name}
        </Link>
      ) : (
        <span className="[overflow-wrap:anywhere]">{name}</span>
      )}
    </span>
  );
}

const SWATCH = 'drawn size-2.5 flex-none rounded-[2px]';

function Card({ row, words, name }: { row: TrafficRow; words: Words; name: ReactNode }) {
  const { t, rate, times } = words;
  const { requests, timings, extra } = row.figures;
  const duration = times(timings.duration);
  return (
    <div className="flex flex-col gap-1 text-table">
      <div className="flex justify-between gap-3">
        {name}
        <span>{t('usage.count', { count: requests })}</span>
      </div>
      <div className="flex flex-wrap justify-between gap-x-3 text-ink-2">
        {requests > 0 && <span>{t('usage.rateOf', { value: rate(row.figures) })}</span>}
        {duration !== undefined && <span>{duration}</span>}
      </div>
      {extra.requests > 0 && (
        <div className="text-ink-2">
          {t('usage.extra.title')}: <ExtraText extra={extra} />
        </div>
      )}
    </div>
  );
}
