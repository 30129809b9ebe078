/** The page of one upstream: health, routes, credentials and limits. */
import { Link } from '@tanstack/react-router';
import { Activity, List, Pencil, Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, IconButton } from '../../../components/button.tsx';
import { type Column, DataTable } from '../../../components/data-table.tsx';
import { DetailHead } from '../../../components/page-head.tsx';
import { Tag } from '../../../components/tag.tsx';
import { type TFunction, useTranslation } from '../../../translation.ts';
import { TrafficOnceSeen } from '../traffic/traffic-section.tsx';
import type { Provider, Route, UpstreamTask } from './documents.ts';
import { QuirkSection } from './quirk-section.tsx';
import { LeftAlone, UpstreamHealth } from './upstream-health.tsx';
import { Limits } from './upstream-limits.tsx';
import { Enabled, Head, Protocols } from './upstream-parts.tsx';

interface UpstreamProps {
  provider: Provider;
  onTask: (task: UpstreamTask) => void;
}

/** The page of one upstream. */
export function Upstream({ provider, onTask }: UpstreamProps) {
  const { t } = useTranslation();
  const actions = (
    <div className="flex flex-wrap gap-2">
      <Button
        icon={<Activity size={16} strokeWidth={1.75} aria-hidden="true" />}
        onClick={() => onTask({ kind: 'probe', provider })}
      >
        {t('admin.upstreams.probe')}
      </Button>
      <Button
        variant="primary"
        icon={<Pencil size={16} strokeWidth={1.75} aria-hidden="true" />}
        onClick={() => onTask({ kind: 'edit', provider })}
      >
        {t('admin.edit')}
      </Button>
    </div>
  );
  const marks = (
    <>
      <Enabled on={provider.enabled} />
      {provider.demo && <Tag>{t('admin.upstreams.demo')}</Tag>}
    </>
  );
  return (
    <>
      <DetailHead
        title={provider.name}
        trail={t('shell.breadcrumb')}
        back={<Back />}
        marks={marks}
        action={actions}
      >
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <code className="break-all">{provider.baseUrl}</code>
          <Protocols provider={provider} />
        </span>
      </DetailHead>
      <UpstreamHealth provider={provider} />
      <Routes provider={provider} onTask={onTask} />
      <QuirkSection provider={provider} onEdit={() => onTask({ kind: 'quirks', provider })} />
      <div className="mt-10 grid grid-cols-[1fr_340px] gap-10 max-xl:grid-cols-1">
        <Credentials provider={provider} onTask={onTask} />
        <Limits provider={provider} onTask={onTask} />
      </div>
      <TrafficOnceSeen title={t('admin.upstreams.ownTraffic')} subject="UPSTREAM" id={provider.id} />
    </>
  );
}

function Back() {
  const { t } = useTranslation();
  return (
    <Link to="/admin/upstreams" activeOptions={{ exact: true }}>
      {t('admin.places.upstreams')}
    </Link>
  );
}

function AddButton({ word, onClick }: { word: string; onClick: () => void }) {
  return (
    <Button icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />} onClick={onClick}>
      {word}
    </Button>
  );
}

function Routes({ provider, onTask }: UpstreamProps) {
  const { t } = useTranslation();
  const add = () => onTask({ kind: 'route', provider });
  const actions = (route: Route) => <RouteActions provider={provider} route={route} onTask={onTask} />;
  return (
    <section>
      <Head
        title={t('admin.routes')}
        note={t('admin.upstreams.routesNote')}
        action={
          <span className="flex flex-wrap gap-2">
            <Button
              icon={<List size={16} strokeWidth={1.75} aria-hidden="true" />}
              onClick={() => onTask({ kind: 'models', provider })}
            >
              {t('admin.quirks.readModels')}
            </Button>
            <AddButton word={t('admin.upstreams.addRoute')} onClick={add} />
          </span>
        }
      />
      <DataTable
        label={t('admin.routes')}
        rows={provider.routes}
        idOf={({ id }) => id}
        columns={routeColumns(t, actions)}
        card={(route) => <RouteCard route={route}>{actions(route)}</RouteCard>}
      />
    </section>
  );
}

function routeColumns(t: TFunction, actions: (route: Route) => ReactNode): Column<Route>[] {
  return [
    {
      id: 'model',
      header: t('pricing.model'),
      cell: ({ row }) => <code className="font-semibold">{row.original.model.name}</code>,
    },
    { id: 'families', header: t('admin.families'), cell: ({ row }) => familiesOf(t, row.original) },
    {
      id: 'name',
      header: t('admin.upstreams.upstreamModel'),
      cell: ({ row }) => <code>{row.original.upstreamModel}</code>,
    },
    {
      id: 'priority',
      header: t('admin.upstreams.priority'),
      meta: { right: true },
      cell: ({ row }) => row.original.priority,
    },
    {
      id: 'weight',
      header: t('admin.upstreams.weight'),
      meta: { right: true },
      cell: ({ row }) => row.original.weight,
    },
    {
      id: 'state',
      header: t('admin.state'),
      cell: ({ row: { original } }) => <RouteState route={original} />,
    },
    {
      id: 'actions',
      header: t('admin.actions'),
      meta: { silent: true, right: true },
      cell: ({ row }) => actions(row.original),
    },
  ];
}

function familiesOf(t: TFunction, { families }: Route): string {
  return families.map((family) => t(`pricing.families.${family}`)).join(t('state.separator'));
}

function RouteCard({ route, children }: { route: Route; children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <div className="flex flex-col gap-1 text-table">
      <div className="flex items-center justify-between gap-3">
        <code className="min-w-0 font-semibold break-all">{route.model.name}</code>
        <span className="touch:-my-3 touch:-mr-3.5">{children}</span>
      </div>
      <span className="text-ink-2">{familiesOf(t, route)}</span>
      <code className="break-all text-ink-3">{route.upstreamModel}</code>
      <div className="flex flex-wrap items-center justify-between gap-x-3 text-ink-2">
        <span>
          {t('admin.upstreams.priority')} {route.priority} · {t('admin.upstreams.weight')} {route.weight}
        </span>
        <RouteState route={route} />
      </div>
    </div>
  );
}

function RouteState({ route: { enabled, openUntil } }: { route: Route }) {
  const { t } = useTranslation();
  return (
    <div>
      <Enabled on={enabled} />
      <LeftAlone word={t('admin.upstreams.health.suspended')} until={openUntil} />
    </div>
  );
}

function RouteActions({ provider, route, onTask }: UpstreamProps & { route: Route }) {
  const { t } = useTranslation();
  return (
    <span className="inline-flex">
      <IconButton
        label={t('admin.editTitle', { name: route.model.name })}
        onClick={() => onTask({ kind: 'route', provider, route })}
      >
        <Pencil size={16} strokeWidth={1.75} />
      </IconButton>
      <IconButton
        label={t('admin.removeTitle', { name: route.model.name })}
        onClick={() => onTask({ kind: 'removeRoute', route })}
      >
        <Trash2 size={16} strokeWidth={1.75} />
      </IconButton>
    </span>
  );
}

type Credential = Provider['credentials'][number];

function Credentials({ provider, onTask }: UpstreamProps) {
  const { t } = useTranslation();
  const add = (
    <AddButton
      word={t('admin.upstreams.addCredential')}
      onClick={() => onTask({ kind: 'credential', provider })}
    />
  );
  const remove = (credential: Credential) => (
    <IconButton
      label={t('admin.removeTitle', { name: credential.label })}
      onClick={() => onTask({ kind: 'removeCredential', credential })}
    >
      <Trash2 size={16} strokeWidth={1.75} />
    </IconButton>
  );
  return (
    <section className="min-w-0">
      <Head title={t('admin.credentials')} note={t('admin.upstreams.writeOnly')} action={add} />
      <DataTable
        label={t('admin.credentials')}
        rows={provider.credentials}
        idOf={({ id }) => id}
        columns={credentialColumns(t, remove)}
        card={(credential) => (
          <div className="flex items-center justify-between gap-3">
            <span className="min-w-0 flex-1 font-[550] break-words">{credential.label}</span>
            <Enabled on={credential.enabled} />
            <code>…{credential.suffix}</code>
            {remove(credential)}
          </div>
        )}
      />
    </section>
  );
}

function credentialColumns(
  t: TFunction,
  remove: (credential: Credential) => ReactNode,
): Column<Credential>[] {
  return [
    {
      id: 'name',
      header: t('admin.name'),
      cell: ({ row }) => <span className="font-[550]">{row.original.label}</span>,
    },
    {
      id: 'suffix',
      header: t('admin.upstreams.endsIn'),
      cell: ({ row }) => <code>{row.original.suffix}</code>,
    },
    { id: 'state', header: t('admin.state'), cell: ({ row }) => <Enabled on={row.original.enabled} /> },
    {
      id: 'remove',
      header: t('admin.actions'),
      meta: { silent: true, right: true },
      cell: ({ row }) => remove(row.original),
    },
  ];
}
