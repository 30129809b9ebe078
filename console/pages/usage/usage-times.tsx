/** The times on the usage page: the chart of all requests that match, and the times of each model or key. */
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { useDurationText } from '../../components/duration.ts';
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { FIRST_PAGE } from '../../components/search-parameters.ts';
import type { ResultOf } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import type { UsageConditions } from './conditions.ts';
import type { UsageSearch } from './search.ts';
import type { Span } from './span.ts';
import type { TimeMeasure, Timings } from './times.ts';
import { TimesQuery } from './times-documents.ts';
import { TimesPanel } from './times-panel.tsx';
import { ViewButton } from './view-button.tsx';

const SHOWN = 8;

interface UsageTimesProps {
  search: UsageSearch;
  span: Span;
  filter: UsageConditions;
  measure: TimeMeasure;
  choices: ReactNode;
}

/** The chart. A selected bar filters the log, not the chart. */
export function UsageTimes(props: UsageTimesProps) {
  const { t } = useTranslation();
  const { search, span, filter } = props;
  const variables = useMemo(() => {
    const { range: _day, ...conditions } = filter;
    const { bucket, ...range } = span;
    const groupBy = [search.by === 'key' ? ('KEY' as const) : ('MODEL' as const)];
    return { range, filter: conditions, groupBy, bucket };
  }, [span, filter, search.by]);
  const [{ data, error, fetching }, again] = useQuery({ query: TimesQuery, variables });
  const summary = data?.viewer?.usageSummary;
  if (summary) return <Loaded {...props} summary={summary} />;
  if (error)
    return (
      <Failure
        title={t('usage.chartFailed')}
        safe={t('usage.failedSafe')}
        requestId={requestIdOf(error)}
        onRetry={again}
      />
    );
  return fetching ? <SkeletonRows rows={6} /> : null;
}

type Summary = NonNullable<ResultOf<typeof TimesQuery>['viewer']>['usageSummary'];

function Loaded({ search, span, measure, choices, summary }: UsageTimesProps & { summary: Summary }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/usage' });
  const { totals, series, groups } = summary.timings;
  const labels = new Map(summary.groups.map(({ key, label }) => [key, label]));
  return (
    <section aria-label={t('usage.charts')} className="mb-8 border-b border-line pb-8">
      <TimesPanel
        span={span}
        totals={totals[measure]}
        series={series.map(({ at, timings }) => ({ at, percentiles: timings[measure] }))}
        selected={search.day}
        onSelect={(id) =>
          void navigate({
            search: (present) => ({ ...present, ...FIRST_PAGE, day: id === present.day ? undefined : id }),
            resetScroll: false,
          })
        }
        view={search.view ?? 'chart'}
        choices={choices}
      >
        <div className="mb-2 flex items-baseline justify-between gap-3 text-table">
          <span className="text-hint text-ink-3">{t(`usage.${search.by ?? 'model'}`)}</span>
          <ViewButton search={search} />
        </div>
        <Groups
          groups={groups.map(({ key, timings }) => ({ label: labels.get(key) ?? key, timings }))}
          measure={measure}
        />
      </TimesPanel>
    </section>
  );
}

interface GroupsProps {
  groups: readonly { label: string; timings: Timings }[];
  measure: TimeMeasure;
}

/** The slowest models or keys, by their p95. */
function Groups({ groups, measure }: GroupsProps) {
  const { t } = useTranslation();
  const durationText = useDurationText();
  const timed = groups
    .flatMap(({ label, timings }) => (timings[measure] ? [{ label, times: timings[measure] }] : []))
    .toSorted((left, right) => right.times.p95Ms - left.times.p95Ms)
    .slice(0, SHOWN);
  return (
    <LeaderList>
      {timed.map(({ label, times }) => (
        <LeaderRow key={label} name={<span className="[overflow-wrap:anywhere]">{label}</span>}>
          {t('usage.p50AndP95', { p50: durationText(times.p50Ms), p95: durationText(times.p95Ms) })}
        </LeaderRow>
      ))}
    </LeaderList>
  );
}
