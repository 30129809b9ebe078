/** The nodes, with their state, configuration revision and load. */
import { CirclePause, CircleX, Ellipsis, KeyRound, Plus } from 'lucide-react';
import { lazy, type ReactNode, Suspense } from 'react';
import { useQuery, useSubscription } from 'urql';
import { Button, IconButton } from '../../../components/button.tsx';
import { type Column, DataTable } from '../../../components/data-table.tsx';
import { Menu } from '../../../components/menu.tsx';
import { type MenuEntry, RULE } from '../../../components/menu-entries.ts';
import { EmptyFirst } from '../../../components/notice.tsx';
import { moneyText } from '../../../components/money.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { Ago } from '../../../components/time.tsx';
import { useSorted } from '../../../components/use-sorted.ts';
import { type TFunction, useTranslation } from '../../../translation.ts';
import { type AdminNode, NodeChanges, NodesQuery } from './documents.ts';
import { NodeState } from './node-state.tsx';
import { Region } from '../region.tsx';
import { TrafficOnDemand } from '../traffic/traffic-section.tsx';
import { useTask } from '../use-task.ts';

const DrainDialog = lazy(async () => ({ default: (await import('./drain-dialog.tsx')).DrainDialog }));
const ForgetDialog = lazy(async () => ({ default: (await import('./forget-dialog.tsx')).ForgetDialog }));
const NodeDialog = lazy(async () => ({ default: (await import('./node-dialog.tsx')).NodeDialog }));

interface NodeTask {
  /** Undefined to create a node. */
  node?: AdminNode;
  drain?: true;
  forget?: true;
}

function Dialogs({ node, drain, forget, onClose }: NodeTask & { onClose: () => void }) {
  if (node && forget) return <ForgetDialog node={node} onClose={onClose} />;
  if (node && drain) return <DrainDialog node={node} onClose={onClose} />;
  return <NodeDialog {...(node && { node })} onClose={onClose} />;
}

/** The page; it shows changes of nodes live. */
export function NodesPage() {
  const { t, i18n } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: NodesQuery });
  useSubscription({ query: NodeChanges });
  const { task, setTask, close } = useTask<NodeTask>(again);
  const nodes = data?.admin?.dataPlaneNodes;
  const inUse = (nodes ?? []).filter(({ retired }) => !retired);
  const create = (
    <Button
      variant="primary"
      icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
      onClick={() => setTask({})}
    >
      {t('admin.nodes.create')}
    </Button>
  );
  const sentence = data?.admin
    ? t('admin.nodes.sentence', {
        revision: new Intl.NumberFormat(i18n.language).format(data.admin.configRevision),
        current: inUse.filter(isCurrent).length,
        all: inUse.length,
      })
    : t('state.loading');
  return (
    <>
      <PageHead title={t('admin.places.nodes')} sentence={sentence} action={create} />
      <Region data={nodes} error={error} onRetry={again}>
        {(rows) =>
          rows.length > 0 ? (
            <NodeTable
              nodes={rows}
              onRotate={(node) => setTask({ node })}
              onDrain={(node) => setTask({ node, drain: true })}
              onForget={(node) => setTask({ node, forget: true })}
            />
          ) : (
            <EmptyFirst title={t('admin.nodes.none')} sentence={t('admin.nodes.noneSentence')} />
          )
        }
      </Region>
      <TrafficOnDemand title={t('admin.nodes.traffic')} subject="NODE" />
      <Suspense>{task && <Dialogs {...task} onClose={close} />}</Suspense>
    </>
  );
}

function isCurrent({ appliedRevision, latestRevision }: AdminNode): boolean {
  return appliedRevision >= latestRevision;
}

interface NodeTableProps {
  nodes: readonly AdminNode[];
  onRotate: (node: AdminNode) => void;
  onDrain: (node: AdminNode) => void;
  onForget: (node: AdminNode) => void;
}

/** The values by which the columns sort. */
const ORDERS = {
  name: ({ name }: AdminNode) => name,
  state: ({ state, retired }: AdminNode) => (retired ? 'RETIRED' : state),
  inflight: ({ inflight }: AdminNode) => inflight,
  rps: ({ rps }: AdminNode) => Number(rps),
  usageBacklog: ({ usageBacklog }: AdminNode) => usageBacklog,
  seen: ({ lastSeenAt }: AdminNode) => lastSeenAt ?? '',
};

function NodeTable({ nodes, ...tasks }: NodeTableProps) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const sorted = useSorted(nodes, ORDERS);
  return (
    <DataTable
      label={t('admin.places.nodes')}
      name="nodes"
      {...sorted}
      idOf={({ id }) => id}
      columns={columnsOf(t, number, (node) => (
        <NodeMenu node={node} {...tasks} />
      ))}
      card={(node) => <NodeCard node={node} {...tasks} />}
    />
  );
}

function columnsOf(
  t: TFunction,
  number: Intl.NumberFormat,
  actions: (node: AdminNode) => ReactNode,
): Column<AdminNode>[] {
  const figure = (id: 'inflight' | 'usageBacklog'): Column<AdminNode> => ({
    id,
    header: t(`admin.nodes.${id}`),
    meta: { fact: true, right: true, sort: 'desc' },
    cell: ({ row }) => number.format(row.original[id]),
  });
  return [
    {
      id: 'name',
      header: t('admin.name'),
      meta: { sort: 'asc' },
      cell: ({ row }) => <Name node={row.original} />,
    },
    {
      id: 'state',
      header: t('admin.state'),
      meta: { sort: 'asc' },
      cell: ({ row }) => <State node={row.original} />,
    },
    figure('inflight'),
    {
      id: 'rps',
      header: t('admin.nodes.rps'),
      meta: { fact: true, right: true, sort: 'desc' },
      cell: ({ row }) => row.original.rps,
    },
    figure('usageBacklog'),
    {
      id: 'seen',
      header: t('admin.nodes.seen'),
      meta: { fact: true, sort: 'desc' },
      cell: ({ row }) => <Seen node={row.original} />,
    },
    {
      id: 'menu',
      header: t('admin.actions'),
      meta: { silent: true, right: true },
      cell: ({ row }) => actions(row.original),
    },
  ];
}

type NodeProps = Omit<NodeTableProps, 'nodes'> & { node: AdminNode };

function NodeCard({ node, ...tasks }: NodeProps) {
  return (
    <div className="flex flex-col gap-3 text-table">
      <div className="flex items-start justify-between gap-3">
        <div className="min-w-0 flex-1">
          <Name node={node} />
        </div>
        <div className="text-right">
          <State node={node} />
        </div>
        <NodeMenu node={node} {...tasks} />
      </div>
    </div>
  );
}

/** The ⋯ menu of a node. */
function NodeMenu({ node, onRotate, onDrain, onForget }: NodeProps) {
  const { t } = useTranslation();
  const { name, state, retired, leases } = node;
  const rotate: MenuEntry = {
    kind: 'action',
    icon: KeyRound,
    word: t('admin.nodes.rotateTask'),
    run: () => onRotate(node),
  };
  const drain: MenuEntry = {
    kind: 'action',
    icon: CirclePause,
    word: t('admin.nodes.drainTask'),
    run: () => onDrain(node),
  };
  const forget: MenuEntry = {
    kind: 'action',
    icon: CircleX,
    word: t('admin.nodes.forgetTask'),
    destructive: true,
    run: () => onForget(node),
  };
  const canDrain = state !== 'DRAINING' && !retired;
  const canForget = state === 'OFFLINE' && (!retired || (leases ?? 0) > 0);
  const trigger = (
    <IconButton label={t('admin.actionsFor', { name })}>
      <Ellipsis size={16} strokeWidth={1.75} />
    </IconButton>
  );
  const entries = [rotate, ...(canDrain ? [drain] : []), ...(canForget ? [RULE, forget] : [])];
  return <Menu trigger={trigger} entries={entries} />;
}

function Name({ node: { name, version, region, leases, held } }: { node: AdminNode }) {
  const { t } = useTranslation();
  return (
    <>
      <div className="min-w-32 font-[550]">{name}</div>
      <div className="text-hint text-ink-3">
        {region} <code>{version}</code>
      </div>
      {leases !== null && held !== null && (
        <div className="text-hint text-ink-3">
          {t('admin.nodes.credit', { count: leases, amount: moneyText(held) })}
        </div>
      )}
    </>
  );
}

/** The state, and the revision of the configuration that the node has applied. */
function State({ node }: { node: AdminNode }) {
  const { t, i18n } = useTranslation();
  const revision = new Intl.NumberFormat(i18n.language).format(node.appliedRevision);
  return (
    <>
      <NodeState node={node} />
      <div className="text-hint text-ink-3">{t('admin.nodes.revision', { revision })}</div>
    </>
  );
}

function Seen({ node: { lastSeenAt } }: { node: AdminNode }) {
  const { t } = useTranslation();
  return lastSeenAt === null ? t('state.never') : <Ago at={lastSeenAt} />;
}
