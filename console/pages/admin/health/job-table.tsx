/** Table of background jobs: last run, its result, and next run. */
import { CircleCheck, CircleDashed, CircleX, TriangleAlert } from 'lucide-react';
import { DataTable } from '../../../components/data-table.tsx';
import { useDurationText } from '../../../components/duration.ts';
import { StateWord } from '../../../components/state-word.tsx';
import { Ago } from '../../../components/time.tsx';
import { useNow } from '../../../components/use-now.ts';
import { useSorted } from '../../../components/use-sorted.ts';
import { useTranslation } from '../../../translation.ts';
import type { ScheduledJob } from './documents.ts';
import { JOBS } from './job-names.ts';

const CLOCK_MS = 5_000;
const OVERDUE_MS = 60_000;

/** The values by which the columns sort. Sorted by result in descending order, failed jobs are first. */
const ORDERS = {
  job: ({ name }: ScheduledJob) => name,
  result: ({ lastError, lastRunAt }: ScheduledJob) => (lastError === null ? (lastRunAt === null ? 0 : 1) : 2),
  last: ({ lastRunAt }: ScheduledJob) => lastRunAt ?? '',
  next: ({ nextRunAt }: ScheduledJob) => nextRunAt ?? '',
};

interface JobProps {
  job: ScheduledJob;
}

/** The table; without a choice, in the service's order. */
export function JobTable({ jobs }: { jobs: readonly ScheduledJob[] }) {
  const { t } = useTranslation();
  const sorted = useSorted(jobs, ORDERS);
  return (
    <DataTable
      label={t('admin.health.jobs')}
      name="jobs"
      {...sorted}
      idOf={({ name }) => name}
      columns={[
        {
          id: 'job',
          header: t('admin.health.job'),
          meta: { sort: 'asc' },
          cell: ({ row }) => <Name job={row.original} />,
        },
        {
          id: 'result',
          header: t('admin.health.result'),
          meta: { sort: 'desc' },
          cell: ({ row }) => <Result job={row.original} />,
        },
        {
          id: 'last',
          header: t('admin.health.last'),
          meta: { sort: 'desc' },
          cell: ({ row }) => <Last job={row.original} />,
        },
        {
          id: 'next',
          header: t('admin.health.next'),
          meta: { sort: 'asc' },
          cell: ({ row }) => <Next job={row.original} />,
        },
      ]}
      card={(job) => <JobCard job={job} />}
    />
  );
}

function JobCard({ job }: JobProps) {
  const { t } = useTranslation();
  return (
    <div className="flex flex-col gap-2 text-table">
      <Name job={job} />
      <Result job={job} />
      <div className="flex flex-wrap justify-between gap-x-4 gap-y-1 text-ink-2">
        <span>
          {t('admin.health.last')}: <Last job={job} />
        </span>
        <span>
          {t('admin.health.next')}: <Next job={job} />
        </span>
      </div>
    </div>
  );
}

function Name({ job: { name } }: JobProps) {
  const { t } = useTranslation();
  const known = JOBS.find((job) => job === name);
  if (known === undefined) return <code>{name}</code>;
  return (
    <>
      <div className="font-[550]">{t(`admin.health.names.${known}`)}</div>
      <div className="text-hint text-ink-3">{t(`admin.health.purposes.${known}`)}</div>
    </>
  );
}

/** The result of the last run. The error is the service's English text. */
function Result({ job: { lastRunAt, lastError, lastFailedAt } }: JobProps) {
  const { t } = useTranslation();
  if (lastRunAt === null)
    return <StateWord icon={CircleDashed} tone="quiet" word={t('admin.health.notYet')} />;
  const before = lastError === null && lastFailedAt !== null && (
    <div className="text-hint text-ink-3">
      {t('admin.health.failedLast')} <Ago at={lastFailedAt} />
    </div>
  );
  if (lastError === null)
    return (
      <>
        <StateWord icon={CircleCheck} tone="good" word={t('admin.health.succeeded')} />
        {before}
      </>
    );
  return (
    <>
      <StateWord icon={CircleX} tone="bad" word={t('admin.health.failed')} />
      <div lang="en" className="max-w-[44ch] text-hint [overflow-wrap:anywhere] text-ink-2">
        {lastError}
      </div>
    </>
  );
}

function Last({ job: { lastRunAt, lastDurationMs } }: JobProps) {
  const { t } = useTranslation();
  const durationText = useDurationText();
  if (lastRunAt === null) return t('state.never');
  return (
    <span className="whitespace-nowrap">
      <Ago at={lastRunAt} /> · {durationText(lastDurationMs ?? 0)}
    </span>
  );
}

/** The next run. A job is overdue only after OVERDUE_MS, because a due job may start at any moment. */
function Next({ job: { nextRunAt } }: JobProps) {
  const { t } = useTranslation();
  const now = useNow(CLOCK_MS);
  if (nextRunAt === null) return t('state.none');
  const late = now - Date.parse(nextRunAt);
  if (late < 0) return <Ago at={nextRunAt} />;
  if (late < OVERDUE_MS) return t('admin.health.due');
  return (
    <>
      <StateWord icon={TriangleAlert} tone="warn" word={t('admin.health.overdue')} />
      <div className="text-hint text-ink-3">
        <Ago at={nextRunAt} />
      </div>
    </>
  );
}
