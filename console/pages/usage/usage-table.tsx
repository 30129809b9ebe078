/** The rows of the usage log, as a table and as cards. */
import type { TFunction } from 'i18next';
import { CircleCheck, CircleDot, CircleX, Gauge, type LucideIcon } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { CopyIcon } from '../../components/copy.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { decimalsOf, Money } from '../../components/money.tsx';
import { StateWord, type Tone } from '../../components/state-word.tsx';
import { Stamp } from '../../components/time.tsx';
import type { UsageRow } from './documents.ts';

const ID_TAIL_CHARACTERS = 6;
const SECOND_MS = 1_000;

const LOOKS: Record<UsageRow['status'], { icon: LucideIcon; tone: Tone }> = {
  SUCCEEDED: { icon: CircleCheck, tone: 'good' },
  FAILED: { icon: CircleX, tone: 'bad' },
  CANCELLED: { icon: CircleDot, tone: 'quiet' },
  THROTTLED: { icon: Gauge, tone: 'warn' },
};

/** The rows of one page. */
export function UsageTable({ rows }: { rows: readonly UsageRow[] }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  return (
    <DataTable
      label={t('usage.requests')}
      rows={rows}
      idOf={({ id }) => id}
      columns={columnsOf(t, rows, number)}
      dense
      card={(row) => <UsageCard row={row} number={number} />}
    />
  );
}

function columnsOf(t: TFunction, rows: readonly UsageRow[], number: Intl.NumberFormat): Column<UsageRow>[] {
  const align = decimalsOf(rows.map(({ cost }) => cost));
  const count = (value: number | null) => (value === null ? <None /> : number.format(value));
  return [
    { id: 'time', head: t('usage.time'), cell: ({ createdAt }) => <Stamp at={createdAt} seconds /> },
    {
      id: 'model',
      head: t('usage.model'),
      cell: ({ modelName }) => <code className="font-semibold">{modelName}</code>,
    },
    {
      id: 'key',
      head: t('usage.key'),
      cell: ({ key }) => (key ? <span className="break-words">{key.name}</span> : <None />),
    },
    { id: 'source', head: t('usage.source'), from: 'xl', cell: ({ source }) => t(`usage.sources.${source}`) },
    {
      id: 'in',
      head: t('usage.tokensIn'),
      right: true,
      from: 'lg',
      cell: ({ inputTokens }) => count(inputTokens),
    },
    {
      id: 'out',
      head: t('usage.tokensOut'),
      right: true,
      from: 'lg',
      cell: ({ outputTokens }) => count(outputTokens),
    },
    {
      id: 'cost',
      head: t('usage.cost'),
      right: true,
      cell: ({ cost }) => <Money amount={cost} align={align} className="font-semibold" />,
    },
    { id: 'status', head: t('usage.status'), cell: (row) => <Status row={row} /> },
    {
      id: 'taken',
      head: t('usage.taken'),
      right: true,
      from: 'lg',
      cell: ({ latencyMs }) => <Duration milliseconds={latencyMs} />,
    },
    {
      id: 'first',
      head: t('usage.first'),
      right: true,
      from: 'xl',
      cell: ({ ttftMs }) => <Duration milliseconds={ttftMs} />,
    },
    {
      id: 'ip',
      head: t('usage.ip'),
      from: 'xl',
      cell: ({ ip }) => (ip === null ? <None /> : <code className="text-ink-2">{ip}</code>),
    },
    { id: 'request', head: t('usage.requestId'), cell: ({ requestId }) => <RequestId id={requestId} /> },
  ];
}

function None() {
  const { t } = useTranslation();
  return <span className="text-ink-3">{t('state.none')}</span>;
}

function Status({ row: { status, httpStatus } }: { row: UsageRow }) {
  const { t } = useTranslation();
  const word = t(`usage.statuses.${status}`);
  const told =
    status === 'FAILED' || status === 'THROTTLED'
      ? t('usage.statusCode', { status: word, code: httpStatus })
      : word;
  return <StateWord {...LOOKS[status]} word={told} />;
}

function Duration({ milliseconds }: { milliseconds: number | null }) {
  const { t } = useTranslation();
  if (milliseconds === null) return <None />;
  return (
    <span className="whitespace-nowrap text-ink-2">
      {milliseconds < SECOND_MS
        ? t('usage.milliseconds', { value: milliseconds })
        : t('usage.seconds', { value: (milliseconds / SECOND_MS).toFixed(1) })}
    </span>
  );
}

function RequestId({ id }: { id: string }) {
  const { t } = useTranslation();
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <code className="text-ink-2" title={id}>
        …{id.slice(-ID_TAIL_CHARACTERS)}
      </code>
      <CopyIcon text={id} label={t('copy.name', { name: id })} />
    </span>
  );
}

function UsageCard({ row, number }: { row: UsageRow; number: Intl.NumberFormat }) {
  const { t } = useTranslation();
  const tokens = (value: number | null) => (value === null ? t('state.none') : number.format(value));
  return (
    <div className="flex flex-col gap-1 text-table text-ink-2">
      <div className="flex items-center justify-between gap-3 text-body text-ink">
        <code className="font-semibold">{row.modelName}</code>
        <Status row={row} />
      </div>
      <div className="flex items-center justify-between gap-3">
        <span className="truncate">{row.key?.name ?? t(`usage.sources.${row.source}`)}</span>
        <Money amount={row.cost} className="font-semibold text-ink" />
      </div>
      <div className="flex items-center justify-between gap-3">
        <span>{t('usage.tokens', { in: tokens(row.inputTokens), out: tokens(row.outputTokens) })}</span>
        <Duration milliseconds={row.latencyMs} />
      </div>
      <div className="flex items-center justify-between gap-3 text-ink-3">
        <Stamp at={row.createdAt} seconds />
        <RequestId id={row.requestId} />
      </div>
    </div>
  );
}
