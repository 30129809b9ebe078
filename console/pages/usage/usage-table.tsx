/** The rows of the usage log, as a table and as cards. */
import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleDot, CircleX, Gauge, type LucideIcon } from 'lucide-react';
import { useMemo } from 'react';
import { CopyIcon } from '../../components/copy.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import type { Sorting } from '../../components/table-types.ts';
import { Duration, None } from '../../components/duration-text.tsx';
import { decimalsOf, Money } from '../../components/money.tsx';
import { StateWord, type Tone } from '../../components/state-word.tsx';
import { Clock, Stamp } from '../../components/time.tsx';
import { type TFunction, useTranslation } from '../../translation.ts';
import type { UsageRow } from './documents.ts';
import type { UsageSearch } from './search.ts';

const ID_TAIL_CHARACTERS = 6;

const LOOKS: Record<UsageRow['status'], { icon: LucideIcon; tone: Tone }> = {
  SUCCEEDED: { icon: CircleCheck, tone: 'good' },
  FAILED: { icon: CircleX, tone: 'bad' },
  CANCELLED: { icon: CircleDot, tone: 'quiet' },
  THROTTLED: { icon: Gauge, tone: 'warn' },
};

interface UsageTableProps {
  rows: readonly UsageRow[];
  /** The address of the receipt of a request, on the usage page. */
  toReceipt: (requestId: string) => UsageSearch;
  sorting?: Sorting;
  /** Whether all rows are of one key, so that no column names it. */
  oneKey?: boolean;
}

/** The rows of one page. */
export function UsageTable({ rows, toReceipt, sorting, oneKey }: UsageTableProps) {
  const { t, i18n } = useTranslation();
  const number = useMemo(() => new Intl.NumberFormat(i18n.language), [i18n.language]);
  const align = useMemo(() => decimalsOf(rows.map(({ cost }) => cost)), [rows]);
  const columns = useMemo(
    () => [...whoColumns(t, oneKey), ...tokenColumns(t, number, align), ...outcomeColumns(t, toReceipt)],
    [t, number, align, toReceipt, oneKey],
  );
  return (
    <DataTable
      label={t('usage.requests')}
      name="usage"
      {...(sorting && { sorting })}
      rows={rows}
      idOf={({ id }) => id}
      columns={columns}
      dense
      card={(row) => <UsageCard {...{ row, number, toReceipt }} />}
    />
  );
}

function whoColumns(t: TFunction, oneKey: boolean | undefined): Column<UsageRow>[] {
  const key: Column<UsageRow> = {
    id: 'key',
    header: t('usage.key'),
    cell: ({ row }) => <KeyName row={row.original} />,
  };
  return [
    {
      id: 'time',
      header: t('usage.time'),
      meta: { sort: 'desc' },
      cell: ({ row }) => <Clock at={row.original.createdAt} />,
    },
    { id: 'model', header: t('usage.model'), cell: ({ row }) => <Model name={row.original.modelName} /> },
    ...(oneKey ? [] : [key]),
    { id: 'source', header: t('usage.source'), cell: ({ row }) => t(`usage.sources.${row.original.source}`) },
  ];
}

function tokenColumns(t: TFunction, number: Intl.NumberFormat, align: number): Column<UsageRow>[] {
  const count = (value: number | null) => (value === null ? <None /> : number.format(value));
  const cost = (row: UsageRow) => <Money amount={row.cost} align={align} className="font-semibold" />;
  return [
    {
      id: 'in',
      header: t('usage.tokensIn'),
      meta: { right: true },
      cell: ({ row }) => count(row.original.inputTokens),
    },
    {
      id: 'cached',
      header: t('usage.tokensCached'),
      meta: { right: true, optional: true },
      cell: ({ row }) => count(row.original.cachedTokens),
    },
    {
      id: 'out',
      header: t('usage.tokensOut'),
      meta: { right: true },
      cell: ({ row }) => count(row.original.outputTokens),
    },
    { id: 'cost', header: t('usage.cost'), meta: { right: true }, cell: ({ row }) => cost(row.original) },
  ];
}

function outcomeColumns(t: TFunction, toReceipt: UsageTableProps['toReceipt']): Column<UsageRow>[] {
  const taken = ({ latencyMs }: UsageRow) => <Duration milliseconds={latencyMs} />;
  const first = ({ ttftMs }: UsageRow) => <Duration milliseconds={ttftMs} />;
  const address = ({ ip }: UsageRow) => (ip === null ? <None /> : <code className="text-ink-2">{ip}</code>);
  return [
    { id: 'status', header: t('usage.status'), cell: ({ row }) => <Status row={row.original} /> },
    {
      id: 'taken',
      header: t('usage.duration'),
      meta: { right: true },
      cell: ({ row }) => taken(row.original),
    },
    {
      id: 'first',
      header: t('usage.firstContent'),
      meta: { right: true, optional: true },
      cell: ({ row }) => first(row.original),
    },
    { id: 'ip', header: t('usage.ip'), meta: { optional: true }, cell: ({ row }) => address(row.original) },
    {
      id: 'request',
      header: t('usage.requestId'),
      cell: ({ row }) => <RequestId id={row.original.requestId} toReceipt={toReceipt} />,
    },
  ];
}

function Model({ name }: { name: string }) {
  return <code className="font-semibold whitespace-nowrap">{name}</code>;
}

/** The name of the key; for a deleted key, the end of its id. */
function KeyName({ row: { keyId, key } }: { row: UsageRow }) {
  if (keyId === null) return <None />;
  if (key === null) return <code title={keyId}>…{keyId.slice(-ID_TAIL_CHARACTERS)}</code>;
  return (
    <span className="block max-w-40 truncate" title={key.name}>
      {key.name}
    </span>
  );
}

function Status({ row: { status, httpStatus } }: { row: UsageRow }) {
  const { t } = useTranslation();
  const word = t(`usage.statuses.${status}`);
  const text =
    status === 'FAILED' || status === 'THROTTLED'
      ? t('usage.statusCode', { status: word, code: httpStatus })
      : word;
  return <StateWord {...LOOKS[status]} word={text} />;
}

/** A link to the receipt, which covers the whole row, and a button that copies the id. */
function RequestId({ id, toReceipt }: { id: string } & Pick<UsageTableProps, 'toReceipt'>) {
  const { t } = useTranslation();
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <Link
        to="/usage"
        search={toReceipt(id)}
        resetScroll={false}
        title={t('usage.receiptOf', { id })}
        className="underline after:absolute after:inset-0"
      >
        <code className="text-ink-2">…{id.slice(-ID_TAIL_CHARACTERS)}</code>
      </Link>
      <CopyIcon text={id} label={t('copy.name', { name: id })} />
    </span>
  );
}

interface UsageCardProps extends Pick<UsageTableProps, 'toReceipt'> {
  row: UsageRow;
  number: Intl.NumberFormat;
}

function UsageCard({ row, number, toReceipt }: UsageCardProps) {
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
        <RequestId id={row.requestId} toReceipt={toReceipt} />
      </div>
    </div>
  );
}
