/** The nodes, with their state, configuration revision and load. */
import { KeyRound, Plus } from 'lucide-react';
import { lazy, type ReactNode, Suspense } from 'react';
import { useQuery, useSubscription } from 'urql';
import { Button } from '../../../components/button.tsx';
import { type Column, DataTable } from '../../../components/data-table.tsx';
import { EmptyFirst } from '../../../components/notice.tsx';
import { Money } from '../../../components/money.tsx';
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
  appliedRevision: ({ appliedRevision }: AdminNode) => appliedRevision,
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
        <Actions node={node} {...tasks} />
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
  const figure = (id: 'inflight' | 'usageBacklog' | 'appliedRevision'): Column<AdminNode> => ({
    id,
    header: t(`admin.nodes.${id}`),
    meta: { fact: true, right: true, sort: 'desc' },
    cell: ({ row }) => number.format(row.original[id]),
  });
  const state = (node: AdminNode) => <NodeState node={node} />;
  return [
    {
      id: 'name',
      header: t('admin.name'),
      meta: { sort: 'asc' },
      cell: ({ row }) => <Name node={row.original} />,
    },
    { id: 'state', header: t('admin.state'), meta: { sort: 'asc' }, cell: ({ row }) => state(row.original) },
    figure('appliedRevision'),
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
      id: 'rotate',
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
        <div>
          <Name node={node} />
        </div>
        <NodeState node={node} />
      </div>
      <Actions node={node} {...tasks} />
    </div>
  );
}

function Actions({ node, onRotate, onDrain, onForget }: NodeProps) {
  const { t } = useTranslation();
  return (
    <span className="inline-flex gap-2">
      <RotateButton onClick={() => onRotate(node)} />
      {node.state !== 'DRAINING' && !node.retired && (
        <Button size="small" onClick={() => onDrain(node)}>
          {t('admin.nodes.drainTask')}
        </Button>
      )}
      {node.state === 'OFFLINE' && (!node.retired || (node.leases ?? 0) > 0) && (
        <Button size="small" onClick={() => onForget(node)}>
          {t('admin.nodes.forgetTask')}
        </Button>
      )}
    </span>
  );
}

function Name({ node: { name, version, region, leases, held } }: { node: AdminNode }) {
  const { t } = useTranslation();
  return (
    <>
      <div className="min-w-40 font-[550]">{name}</div>
      <div className="text-hint text-ink-3">
        {region} <code>{version}</code>
      </div>
      {leases !== null && held !== null && (
        <div className="text-hint text-ink-3">
          {t('admin.nodes.credit', { leases })} <Money amount={held} />
        </div>
      )}
    </>
  );
}

function Seen({ node: { lastSeenAt } }: { node: AdminNode }) {
  const { t } = useTranslation();
  return lastSeenAt === null ? t('state.never') : <Ago at={lastSeenAt} />;
}

function RotateButton({ onClick }: { onClick: () => void }) {
  const { t } = useTranslation();
  return (
    <Button
      size="small"
      icon={<KeyRound size={16} strokeWidth={1.75} aria-hidden="true" />}
      onClick={onClick}
    >
      {t('admin.nodes.rotate')}
    </Button>
  );
}
