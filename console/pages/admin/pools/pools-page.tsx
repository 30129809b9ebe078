/** The dedicated pools of all users: owner, load, end of the paid period. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useQuery } from 'urql';
import { type Column, DataTable } from '../../../components/data-table.tsx';
import { Filter } from '../../../components/menu.tsx';
import { EmptyFiltered, EmptyFirst } from '../../../components/notice.tsx';
import { FIRST_PAGE, pageVariables } from '../../../components/search-parameters.ts';
import { PageHead } from '../../../components/page-head.tsx';
import { orderBy } from '../../../components/sort-order.ts';
import type { Sorting } from '../../../components/table-types.ts';
import { SearchField } from '../../../components/search-field.tsx';
import { StateWord } from '../../../components/state-word.tsx';
import { Stamp } from '../../../components/time.tsx';
import { type TFunction, useTranslation } from '../../../translation.ts';
import { lookOf } from '../../pools/pool-state.ts';
import { type AdminPool, AdminPoolsQuery } from './documents.ts';
import { PoolMenu, type PoolTask } from './pool-menu.tsx';
import { POOL_STATES, type PoolListSearch } from './search.ts';
import { PagedList } from '../paged-list.tsx';
import { useTask } from '../use-task.ts';

const POOLS_PER_PAGE = 50;
const PoolDialogs = lazy(async () => ({ default: (await import('./pool-dialogs.tsx')).PoolDialogs }));

/** The list. */
export function PoolsPage() {
  const { t } = useTranslation();
  const search = useSearch({ from: '/admin/pools' });
  const navigate = useNavigate({ from: '/admin/pools' });
  const [{ data, error }, again] = useQuery({ query: AdminPoolsQuery, variables: variablesOf(search) });
  const { task, setTask, close } = useTask<PoolTask>(again);
  return (
    <>
      <PageHead title={t('storefront.pools')} sentence={t('storefront.poolsSentence')} />
      <Filters search={search} />
      <PagedList
        connection={data?.admin?.pools}
        error={error}
        onRetry={again}
        page={search}
        onGo={(page) => void navigate({ search: { ...search, ...page } })}
        empty={<NoPools search={search} />}
      >
        {(pools) => (
          <PoolTable
            pools={pools}
            onTask={setTask}
            sorting={{
              value: search.sort,
              onSort: (sort) => void navigate({ search: { ...search, ...FIRST_PAGE, sort } }),
            }}
          />
        )}
      </PagedList>
      <Suspense>{task && <PoolDialogs task={task} onClose={close} />}</Suspense>
    </>
  );
}

/** Fields of the service that sort by a column. */
const ORDERS = { name: 'NAME', ends: 'ENDS_AT' } as const;

function variablesOf({ search, state, sort, ...page }: PoolListSearch) {
  return {
    first: POOLS_PER_PAGE,
    ...pageVariables(page),
    orderBy: orderBy(sort, ORDERS),
    search: search ?? null,
    state: state ? [state] : null,
  };
}

function NoPools({ search: { search, state, after, before } }: { search: PoolListSearch }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/admin/pools' });
  if ((search ?? state ?? after ?? before) === undefined)
    return <EmptyFirst title={t('storefront.noPools')} sentence={t('storefront.noPoolsSentence')} />;
  return <EmptyFiltered sentence={t('storefront.noneFits')} onClear={() => void navigate({ search: {} })} />;
}

function Filters({ search }: { search: PoolListSearch }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/admin/pools' });
  const set = (change: Partial<PoolListSearch>) =>
    void navigate({ search: { ...search, ...FIRST_PAGE, ...change } });
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <SearchField
        label={t('storefront.search')}
        placeholder={t('storefront.searchHint')}
        value={search.search}
        onSearch={(text) => set({ search: text })}
      />
      <Filter
        name={t('admin.state')}
        value={search.state}
        onChange={(state) => set({ state })}
        options={POOL_STATES.map((value) => ({ value, word: t(`pools.states.${value}`) }))}
      />
    </div>
  );
}

interface PoolTableProps {
  pools: readonly AdminPool[];
  onTask: (task: PoolTask) => void;
  sorting: Sorting;
}

function PoolTable({ pools, onTask, sorting }: PoolTableProps) {
  const { t } = useTranslation();
  return (
    <DataTable
      label={t('storefront.pools')}
      name="pools"
      sorting={sorting}
      rows={pools}
      idOf={({ id }) => id}
      columns={columnsOf(t, onTask)}
      card={(pool) => <PoolCard pool={pool} onTask={onTask} />}
    />
  );
}

function columnsOf(t: TFunction, onTask: PoolTableProps['onTask']): Column<AdminPool>[] {
  return [
    {
      id: 'name',
      header: t('pools.name'),
      meta: { sort: 'asc' },
      cell: ({ row }) => <Name pool={row.original} />,
    },
    { id: 'state', header: t('admin.state'), cell: ({ row }) => <State state={row.original.state} /> },
    { id: 'owner', header: t('storefront.owner'), cell: ({ row }) => row.original.owner?.email },
    { id: 'rate', header: t('pools.rate'), meta: { right: true }, cell: ({ row }) => rateOf(row.original) },
    {
      id: 'throttled',
      header: t('pools.throttledDay'),
      meta: { fact: true, right: true },
      cell: ({ row }) => throttledOf(row.original),
    },
    {
      id: 'ends',
      header: t('pools.ends'),
      meta: { sort: 'asc' },
      cell: ({ row }) => <Stamp at={row.original.endsAt} />,
    },
    {
      id: 'menu',
      header: t('admin.actions'),
      meta: { silent: true, right: true },
      cell: ({ row }) => <PoolMenu pool={row.original} onTask={onTask} />,
    },
  ];
}

const rateOf = ({ rpmNow, rpmCap }: AdminPool) => `${rpmNow} / ${rpmCap}`;
const throttledOf = ({ throttled24h }: AdminPool) => throttled24h;

function State({ state }: Pick<AdminPool, 'state'>) {
  const { t } = useTranslation();
  return <StateWord {...lookOf(state)} word={t(`pools.states.${state}`)} />;
}

function Name({ pool: { id, name, subdomain } }: { pool: AdminPool }) {
  return (
    <>
      <Link to="/admin/pools/$id" params={{ id }} className="row-link font-[550]">
        {name}
      </Link>
      <div className="text-hint text-ink-3">
        <code>{subdomain}</code>
      </div>
    </>
  );
}

function PoolCard({ pool, onTask }: { pool: AdminPool } & Pick<PoolTableProps, 'onTask'>) {
  return (
    <div className="flex items-start justify-between gap-3">
      <div className="flex min-w-0 flex-col gap-1 text-table text-ink-2">
        <div className="text-body text-ink">
          <Name pool={pool} />
        </div>
        <State state={pool.state} />
        <span className="truncate">{pool.owner?.email}</span>
        <span>
          {rateOf(pool)} · <Stamp at={pool.endsAt} />
        </span>
      </div>
      <PoolMenu pool={pool} onTask={onTask} />
    </div>
  );
}
