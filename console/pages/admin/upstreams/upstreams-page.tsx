/** The list of upstreams, and the page of one upstream. */
import { Link, useParams } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../../components/button.tsx';
import { type Column, DataTable } from '../../../components/data-table.tsx';
import { EmptyFirst } from '../../../components/notice.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { FACT } from '../../../components/table-types.ts';
import { Tag } from '../../../components/tag.tsx';
import { useEvery } from '../../../components/use-now.ts';
import { useSorted } from '../../../components/use-sorted.ts';
import { type TFunction, useTranslation } from '../../../translation.ts';
import { NotFound } from '../../shell/not-found.tsx';
import { Region } from '../region.tsx';
import { TrafficOnDemand } from '../traffic/traffic-section.tsx';
import { useTask } from '../use-task.ts';
import { UpstreamHealthWord } from './upstream-health.tsx';
import { Enabled, Protocols } from './upstream-parts.tsx';
import { type Provider, ProvidersQuery, type UpstreamTask } from './documents.ts';
import { Upstream } from './upstream-detail.tsx';

/** Refresh interval in ms. Nodes report the health of upstreams every 5 s. */
const REFRESH_MS = 10_000;

const UpstreamDialogs = lazy(async () => ({
  default: (await import('./upstream-dialogs.tsx')).UpstreamDialogs,
}));

/** The list, or the upstream that the address names. */
export function UpstreamsPage() {
  const { id } = useParams({ strict: false });
  const [{ data, error }, again] = useQuery({ query: ProvidersQuery });
  const { task, setTask, close } = useTask<UpstreamTask>(again);
  useEvery(REFRESH_MS, () => again({ requestPolicy: 'network-only' }));
  return (
    <>
      <Region data={data?.admin?.providers} error={error} onRetry={again}>
        {(providers) => {
          if (id === undefined) return <List providers={providers} onTask={setTask} />;
          const provider = providers.find((candidate) => candidate.id === id);
          return provider ? <Upstream provider={provider} onTask={setTask} /> : <NotFound />;
        }}
      </Region>
      <Suspense>
        {task && data && <UpstreamDialogs task={task} models={data.catalog.nodes} onClose={close} />}
      </Suspense>
    </>
  );
}

interface ListProps {
  providers: readonly Provider[];
  onTask: (task: UpstreamTask) => void;
}

function List({ providers, onTask }: ListProps) {
  const { t } = useTranslation();
  const create = (
    <Button
      variant="primary"
      icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
      onClick={() => onTask({ kind: 'edit' })}
    >
      {t('admin.upstreams.create')}
    </Button>
  );
  return (
    <>
      <PageHead
        title={t('admin.places.upstreams')}
        sentence={t('admin.upstreams.sentence')}
        action={create}
      />
      {providers.length === 0 ? (
        <EmptyFirst title={t('admin.upstreams.none')} sentence={t('admin.upstreams.noneSentence')} />
      ) : (
        <>
          <ProviderTable providers={providers} />
          <TrafficOnDemand title={t('admin.upstreams.traffic')} subject="UPSTREAM" />
        </>
      )}
    </>
  );
}

/** The values by which the columns sort. */
const ORDERS = {
  name: ({ name }: Provider) => name,
  state: ({ enabled }: Provider) => (enabled ? 0 : 1),
  routes: ({ routes }: Provider) => routes.length,
  credentials: ({ credentials }: Provider) => credentials.length,
};

function ProviderTable({ providers }: Pick<ListProps, 'providers'>) {
  const { t } = useTranslation();
  const sorted = useSorted(providers, ORDERS);
  return (
    <DataTable
      label={t('admin.places.upstreams')}
      name="upstreams"
      {...sorted}
      idOf={({ id }) => id}
      columns={columnsOf(t)}
      card={(provider) => (
        <div className="flex items-start justify-between gap-3">
          <div className="min-w-0">
            <Name provider={provider} />
          </div>
          <Enabled on={provider.enabled} />
        </div>
      )}
    />
  );
}

function columnsOf(t: TFunction): Column<Provider>[] {
  const name = (provider: Provider) => <Name provider={provider} />;
  return [
    { id: 'name', header: t('admin.name'), meta: { sort: 'asc' }, cell: ({ row }) => name(row.original) },
    {
      id: 'state',
      header: t('admin.state'),
      meta: { sort: 'asc' },
      cell: ({ row }) => <Enabled on={row.original.enabled} />,
    },
    {
      id: 'protocols',
      header: t('admin.protocols'),
      meta: FACT,
      cell: ({ row }) => <Protocols provider={row.original} />,
    },
    {
      id: 'routes',
      header: t('admin.routes'),
      meta: { fact: true, right: true, sort: 'desc' },
      cell: ({ row }) => row.original.routes.length,
    },
    {
      id: 'credentials',
      header: t('admin.credentials'),
      meta: { fact: true, right: true, sort: 'desc' },
      cell: ({ row }) => row.original.credentials.length,
    },
  ];
}

function Name({ provider }: { provider: Provider }) {
  const { t } = useTranslation();
  return (
    <>
      <Link to="/admin/upstreams/$id" params={{ id: provider.id }} className="row-link font-[550]">
        {provider.name}
      </Link>
      {provider.demo && (
        <span className="ml-2">
          <Tag>{t('admin.upstreams.demo')}</Tag>
        </span>
      )}
      <div className="text-hint break-all text-ink-3">
        <code>{provider.baseUrl}</code>
      </div>
      <UpstreamHealthWord health={provider.health} />
    </>
  );
}
