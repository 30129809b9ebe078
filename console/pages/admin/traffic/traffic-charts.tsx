/** Charts of requests, failures and times of upstreams or nodes over time, with a table of each. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import { useQuery } from 'urql';
import { Segmented } from '../../../components/field.tsx';
import { Filter } from '../../../components/menu.tsx';
import { useEvery } from '../../../components/use-now.ts';
import { useTranslation } from '../../../translation.ts';
import { hasBar, type Span } from '../../usage/span.ts';
import { TimeRange } from '../../usage/time-range.tsx';
import { useSpan } from '../../usage/use-span.ts';
import { Region } from '../region.tsx';
import { type Traffic, TrafficQuery } from './documents.ts';
import { ExtraByModel } from './extra-requests.tsx';
import { TRAFFIC_MEASURES, type TrafficSearch, validTrafficSearch } from './search.ts';
import { TrafficBars } from './traffic-bars.tsx';
import { TrafficPart } from './traffic-part.tsx';
import { TrafficTable } from './traffic-table.tsx';

const TimesPanel = lazy(async () => ({ default: (await import('../../usage/times-panel.tsx')).TimesPanel }));
const REFRESH_MS = 60_000;
/** Days that the charts cover without a choice. */
const USUAL_DAYS = '1';

export interface TrafficChartsProps {
  title: string;
  subject: 'UPSTREAM' | 'NODE';
  /** The only upstream or node; undefined for all, with a choice of one. */
  id?: string;
}

/** The charts; they refresh themselves every minute. */
export function TrafficCharts({ title, subject, id }: TrafficChartsProps) {
  const search = validTrafficSearch({ ...useSearch({ strict: false }) });
  const set = useSetSearch();
  const { days, from, to } = search;
  const span = useSpan({ days: days ?? USUAL_DAYS, from, to }, REFRESH_MS);
  const of = id ?? search.of;
  const variables = useMemo(() => {
    const { bucket, ...range } = span;
    return { subject, ids: of === undefined ? null : [of], range, bucket };
  }, [subject, of, span]);
  const [{ data, error }, again] = useQuery({ query: TrafficQuery, variables });
  useEvery(REFRESH_MS, () => again({ requestPolicy: 'network-only' }));
  return (
    <TrafficPart title={title}>
      <div className="mb-6 flex flex-wrap items-center gap-2">
        <TimeRange search={search} usual={USUAL_DAYS} set={set} />
        {id === undefined && <SubjectFilter {...{ subject, search, set }} rows={data?.admin?.traffic.rows} />}
      </div>
      <Region data={data?.admin?.traffic} error={error} onRetry={again}>
        {(traffic) => (
          <Charts
            {...{ subject, search, span, traffic }}
            choices={<Measures search={search} onChange={(chart) => set({ chart })} />}
          />
        )}
      </Region>
    </TrafficPart>
  );
}

/** Returns a function that changes the address. */
function useSetSearch() {
  const navigate = useNavigate();
  return (change: Partial<TrafficSearch>) =>
    void navigate({ to: '.', search: (search) => ({ ...search, ...change }), resetScroll: false });
}

interface SubjectFilterProps {
  subject: TrafficChartsProps['subject'];
  search: TrafficSearch;
  set: (change: Partial<TrafficSearch>) => void;
  rows: Traffic['rows'] | undefined;
}

/** The choice of one upstream or node. Keeps the choices of all after one is chosen. */
function SubjectFilter({ subject, search, set, rows = [] }: SubjectFilterProps) {
  const { t } = useTranslation();
  const [known, setKnown] = useState(rows);
  const added = rows.filter(({ subjectId }) => !known.some((one) => one.subjectId === subjectId));
  if (added.length > 0) setKnown([...known, ...added]);
  const options = known.map(({ subjectId, name }) => ({ value: subjectId, word: name }));
  // One without traffic in the time range is not among the rows.
  const isKnown = search.of === undefined || options.some(({ value }) => value === search.of);
  return (
    <Filter
      name={t(`usage.subjects.${subject}`)}
      value={search.of}
      options={isKnown ? options : [...options, { value: search.of ?? '', word: search.of ?? '' }]}
      onChange={(of) => set({ of })}
    />
  );
}

interface MeasuresProps {
  search: TrafficSearch;
  onChange: (chart: TrafficSearch['chart']) => void;
}

function Measures({ search, onChange }: MeasuresProps) {
  const { t } = useTranslation();
  return (
    <Segmented
      label={t('usage.measure')}
      value={search.chart ?? 'requests'}
      options={TRAFFIC_MEASURES.map((value) => ({ value, word: t(`usage.measures.${value}`) }))}
      onChange={onChange}
    />
  );
}

interface ChartsProps {
  subject: TrafficChartsProps['subject'];
  search: TrafficSearch;
  span: Span;
  traffic: Traffic;
  choices: ReactNode;
}

function Charts({ subject, search, span, traffic, choices }: ChartsProps) {
  const [chosen, setBar] = useState<string>();
  // Another time range may not have the bar.
  const bar = chosen !== undefined && hasBar(span, chosen) ? chosen : undefined;
  const onSelect = (id: string) => setBar(id === bar ? undefined : id);
  const measure = search.chart ?? 'requests';
  const table = (
    <>
      <TrafficTable {...{ subject, traffic, bar, measure }} />
      <ExtraByModel traffic={traffic} />
    </>
  );
  if (measure === 'requests' || measure === 'rate')
    return (
      <>
        <TrafficBars {...{ traffic, span, measure, choices, onSelect }} selected={bar} />
        {table}
      </>
    );
  return (
    <>
      <Suspense>
        <TimesPanel
          {...{ span, choices, onSelect }}
          totals={traffic.totals.timings[measure]}
          series={traffic.series
            .filter(({ subjectId }) => subjectId === null)
            .map(({ at, figures }) => ({ at, percentiles: figures.timings[measure] }))}
          selected={bar}
          view="chart"
        />
      </Suspense>
      {table}
    </>
  );
}
