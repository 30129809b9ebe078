/** The list of keys, as a table and as cards. */
import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { useMemo } from 'react';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import type { Selection, Sorting } from '../../components/table-types.ts';
import { decimalsOf, Money } from '../../components/money.tsx';
import { Sparkline } from '../../components/sparkline.tsx';
import { StateWord } from '../../components/state-word.tsx';
import { Ago } from '../../components/time.tsx';
import { type TFunction, useTranslation } from '../../translation.ts';
import type { Key, KeyDialog, ListedKey } from './documents.ts';
import { KeyMenu } from './key-menu.tsx';
import { canReveal, isNeverRevealed, lookOf, maskedOf, stateOf } from './key-state.ts';
import { requestsByDay } from './week.ts';

interface KeyTableProps {
  keys: readonly ListedKey[];
  open: (dialog: KeyDialog) => void;
  sorting: Sorting;
  selection: Selection<ListedKey>;
}

/** The keys of one page. */
export function KeyTable({ keys, open, sorting, selection }: KeyTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(() => columnsOf(t, keys, open), [t, keys, open]);
  return (
    <DataTable
      label={t('keys.title')}
      name="keys"
      sorting={sorting}
      selection={selection}
      rows={keys}
      idOf={({ id }) => id}
      columns={columns}
      card={(key) => <KeyCard apiKey={key} open={open} />}
    />
  );
}

function columnsOf(
  t: TFunction,
  keys: readonly ListedKey[],
  open: KeyTableProps['open'],
): Column<ListedKey>[] {
  const align = decimalsOf(keys.map(({ spentThisMonth }) => spentThisMonth));
  return [
    {
      id: 'name',
      header: t('keys.name'),
      meta: { sort: 'asc' },
      cell: ({ row }) => <Name apiKey={row.original} />,
    },
    { id: 'state', header: t('keys.state'), cell: ({ row }) => <State apiKey={row.original} open={open} /> },
    {
      id: 'group',
      header: t('keys.groupAndDomain'),
      cell: ({ row }) => (
        <>
          <Group apiKey={row.original} />
          <div className="text-hint">
            <Domain apiKey={row.original} />
          </div>
        </>
      ),
    },
    {
      id: 'used',
      header: t('keys.lastUsed'),
      meta: { sort: 'desc' },
      cell: ({ row }) => <LastUsed apiKey={row.original} />,
    },
    { id: 'week', header: t('keys.week'), cell: ({ row }) => <Week apiKey={row.original} /> },
    {
      id: 'month',
      header: t('keys.month'),
      meta: { right: true, sort: 'desc' },
      cell: ({ row }) => <Spent apiKey={row.original} align={align} />,
    },
    {
      id: 'menu',
      header: t('keys.actions'),
      meta: { silent: true, right: true },
      cell: ({ row }) => <KeyMenu apiKey={row.original} open={open} />,
    },
  ];
}

interface CellProps {
  apiKey: Key;
}

function Week({ apiKey }: { apiKey: ListedKey }) {
  const { t } = useTranslation();
  const values = requestsByDay(apiKey.usageSummary.series, Date.now());
  const count = values.reduce((sum, value) => sum + value, 0);
  return <Sparkline values={values} label={t('keys.weekOf', { count })} />;
}

// The link covers the whole row; buttons of the row stay above it.
const NAME = 'font-[550] hover:underline after:absolute after:inset-0';

function Name({ apiKey }: CellProps) {
  return (
    <>
      <Link to="/keys/$id" params={{ id: apiKey.id }} className={NAME}>
        {apiKey.name}
      </Link>
      <div className="min-w-28 text-hint text-ink-3">
        <Masked apiKey={apiKey} />
      </div>
    </>
  );
}

/** The masked secret, or why there is none. */
function Masked({ apiKey }: CellProps) {
  const { t } = useTranslation();
  const masked = maskedOf(apiKey);
  if (masked !== undefined) return <code>{masked}</code>;
  return t(isNeverRevealed(apiKey) ? 'keys.revealInTime' : 'keys.noSecret');
}

function State({ apiKey, open }: CellProps & Pick<KeyTableProps, 'open'>) {
  const { t } = useTranslation();
  const state = stateOf(apiKey);
  return (
    <span className="flex items-center gap-x-3 gap-y-1 max-xl:flex-col max-xl:items-start">
      <StateWord {...lookOf(state)} word={t(`keys.states.${state}`)} breaks />
      {canReveal(apiKey) && (
        <Button
          size="small"
          onClick={() => {
            open({ kind: 'ready', key: apiKey });
          }}
        >
          {t('keys.reveal')}
        </Button>
      )}
    </span>
  );
}

function Group({ apiKey }: CellProps) {
  const { t } = useTranslation();
  return (
    <>
      {t(`groups.${apiKey.group}`)} <span className="text-ink-3">×{apiKey.groupRatio}</span>
    </>
  );
}

function Domain({ apiKey: { pool } }: CellProps) {
  const { t } = useTranslation();
  if (!pool) return <span className="text-ink-3">{t('keys.mainDomain')}</span>;
  return (
    <Link to="/pools/$id" params={{ id: pool.id }} className="relative text-accent underline">
      {pool.name}
    </Link>
  );
}

function LastUsed({ apiKey }: CellProps) {
  const { t } = useTranslation();
  if (apiKey.lastUsedAt === null) return <span className="text-ink-2">{t('state.never')}</span>;
  return (
    <>
      <div>
        <Ago at={apiKey.lastUsedAt} />
      </div>
      {apiKey.lastUsedIp !== null && (
        <div className="max-w-26 text-hint break-words text-ink-3 xl:max-w-none">
          <code>{apiKey.lastUsedIp}</code>
        </div>
      )}
    </>
  );
}

function Spent({ apiKey, align }: CellProps & { align?: number }) {
  return (
    <Money
      amount={apiKey.spentThisMonth}
      className="font-semibold"
      {...(align === undefined ? {} : { align })}
    />
  );
}

function KeyCard({ apiKey, open }: { apiKey: ListedKey } & Pick<KeyTableProps, 'open'>) {
  const { t } = useTranslation();
  const state = stateOf(apiKey);
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex items-center justify-between gap-3">
        <Link to="/keys/$id" params={{ id: apiKey.id }} className={clsx(NAME, 'min-w-0 truncate text-body')}>
          {apiKey.name}
        </Link>
        <StateWord {...lookOf(state)} word={t(`keys.states.${state}`)} />
      </div>
      <div className="flex items-center justify-between gap-3 text-table text-ink-2">
        <span className="text-ink-3">
          <Masked apiKey={apiKey} />
        </span>
        <Week apiKey={apiKey} />
      </div>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-table text-ink-2">
        <span className="whitespace-nowrap">
          <Group apiKey={apiKey} />
        </span>
        {apiKey.pool && (
          <>
            <span aria-hidden="true">·</span>
            <span className="min-w-0 truncate">{apiKey.pool.name}</span>
          </>
        )}
        <span aria-hidden="true">·</span>
        <span className="whitespace-nowrap">
          {apiKey.lastUsedAt === null ? t('keys.neverUsed') : <Ago at={apiKey.lastUsedAt} />}
        </span>
        <span className="ml-auto flex items-center gap-2 text-ink">
          {canReveal(apiKey) ? (
            <Button
              onClick={() => {
                open({ kind: 'ready', key: apiKey });
              }}
            >
              {t('keys.reveal')}
            </Button>
          ) : (
            <Spent apiKey={apiKey} />
          )}
          <KeyMenu apiKey={apiKey} open={open} />
        </span>
      </div>
    </div>
  );
}
