/** The catalog for administrators, including drafts and retired models, with routes. */
import {
  CircleCheck,
  CircleDashed,
  CircleX,
  Clock,
  Ellipsis,
  type LucideIcon,
  Pencil,
  Plus,
  Route,
} from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useQuery } from 'urql';
import { Button, IconButton } from '../../../components/button.tsx';
import { type Column, DataTable } from '../../../components/data-table.tsx';
import { Menu } from '../../../components/menu.tsx';
import { type MenuEntry, RULE } from '../../../components/menu-entries.ts';
import { decimalsOf, Money } from '../../../components/money.tsx';
import { EmptyFirst } from '../../../components/notice.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { StateWord, type Tone } from '../../../components/state-word.tsx';
import { Day } from '../../../components/time.tsx';
import { useSorted } from '../../../components/use-sorted.ts';
import { type TFunction, useTranslation } from '../../../translation.ts';
import { AdminCatalogQuery, type AdminModel } from './documents.ts';
import type { ModelTask } from './model-dialogs.tsx';
import { Region } from '../region.tsx';
import { useTask } from '../use-task.ts';

const ModelDialogs = lazy(async () => ({ default: (await import('./model-dialogs.tsx')).ModelDialogs }));

const STATES = ['DRAFT', 'PUBLISHED', 'DEPRECATED', 'RETIRED'] as const;
/** The states that a model may change to, by its current state. */
const NEXT: Record<AdminModel['state'], readonly AdminModel['state'][]> = {
  DRAFT: ['PUBLISHED'],
  PUBLISHED: ['DEPRECATED', 'RETIRED'],
  DEPRECATED: ['DEPRECATED', 'PUBLISHED', 'RETIRED'],
  RETIRED: ['PUBLISHED'],
};
const LOOKS: Record<AdminModel['state'], { icon: LucideIcon; tone: Tone }> = {
  DRAFT: { icon: CircleDashed, tone: 'quiet' },
  PUBLISHED: { icon: CircleCheck, tone: 'good' },
  DEPRECATED: { icon: Clock, tone: 'warn' },
  RETIRED: { icon: CircleX, tone: 'quiet' },
};

/** The page. */
export function ModelsPage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: AdminCatalogQuery, variables: { states: [...STATES] } });
  const { task, setTask, close } = useTask<ModelTask>(again);
  const create = (
    <Button
      variant="primary"
      icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
      onClick={() => setTask({ kind: 'edit' })}
    >
      {t('admin.models.create')}
    </Button>
  );
  return (
    <>
      <PageHead title={t('admin.places.models')} sentence={t('admin.models.sentence')} action={create} />
      <Region data={data?.catalog.nodes} error={error} onRetry={again}>
        {(models) =>
          models.length > 0 ? (
            <ModelTable models={models} onTask={setTask} />
          ) : (
            <EmptyFirst title={t('pricing.emptyTitle')} sentence={t('admin.models.none')} />
          )
        }
      </Region>
      <Suspense>
        {task && <ModelDialogs task={task} models={data?.catalog.nodes ?? []} onClose={close} />}
      </Suspense>
    </>
  );
}

/** The values by which the columns sort. */
const ORDERS = {
  name: ({ name }: AdminModel) => name,
  tier: ({ tier }: AdminModel) => tier,
  state: ({ state }: AdminModel) => STATES.indexOf(state),
  routes: enabledRoutes,
  price: ({ pricePerRequest }: AdminModel) => Number(pricePerRequest),
};

function enabledRoutes({ routes }: AdminModel): number {
  return routes?.filter((route) => route.enabled).length ?? 0;
}

interface ModelTableProps {
  models: readonly AdminModel[];
  onTask: (task: ModelTask) => void;
}

function ModelTable({ models, onTask }: ModelTableProps) {
  const { t } = useTranslation();
  const sorted = useSorted(models, ORDERS);
  const align = decimalsOf(models.map(({ pricePerRequest }) => pricePerRequest));
  return (
    <DataTable
      label={t('admin.places.models')}
      name="models"
      {...sorted}
      idOf={({ id }) => id}
      columns={columnsOf(t, align, onTask)}
      card={(model) => (
        <div className="flex flex-col gap-1">
          <div className="flex items-center justify-between gap-3">
            <Name model={model} />
            <ModelMenu model={model} onTask={onTask} />
          </div>
          <div className="flex items-center justify-between gap-3">
            <State model={model} />
            <Money amount={model.pricePerRequest} />
          </div>
        </div>
      )}
    />
  );
}

function columnsOf(t: TFunction, align: number, onTask: ModelTableProps['onTask']): Column<AdminModel>[] {
  return [
    {
      id: 'name',
      header: t('pricing.model'),
      meta: { sort: 'asc' },
      cell: ({ row }) => <Name model={row.original} />,
    },
    {
      id: 'tier',
      header: t('pricing.tier'),
      meta: { fact: true, sort: 'asc' },
      cell: ({ row }) => t(`pricing.tiers.${row.original.tier}`),
    },
    {
      id: 'state',
      header: t('admin.state'),
      meta: { sort: 'asc' },
      cell: ({ row }) => <State model={row.original} />,
    },
    {
      id: 'routes',
      header: t('admin.routes'),
      meta: { fact: true, right: true, sort: 'asc' },
      cell: ({ row }) => <Routes model={row.original} />,
    },
    {
      id: 'price',
      header: t('admin.models.price'),
      meta: { right: true, sort: 'desc' },
      cell: ({ row }) => (
        <Money amount={row.original.pricePerRequest} align={align} className="font-semibold" />
      ),
    },
    {
      id: 'menu',
      header: t('admin.actions'),
      meta: { silent: true, right: true },
      cell: ({ row }) => <ModelMenu model={row.original} onTask={onTask} />,
    },
  ];
}

function Name({ model: { name } }: { model: AdminModel }) {
  return <code className="font-semibold">{name}</code>;
}

function State({ model: { state, deprecation } }: { model: AdminModel }) {
  const { t } = useTranslation();
  const end = state === 'DEPRECATED' ? deprecation?.retiresAt : undefined;
  return (
    <>
      <StateWord {...LOOKS[state]} word={t(`admin.models.states.${state}`)} />
      {end && (
        <div className="text-hint text-ink-3">
          {t('admin.models.until')} <Day at={end} />
        </div>
      )}
    </>
  );
}

function Routes({ model }: { model: AdminModel }) {
  const { t } = useTranslation();
  const enabled = enabledRoutes(model);
  if (enabled === 0) return <span className="text-warn">{t('state.none')}</span>;
  return enabled;
}

function ModelMenu({ model, onTask }: { model: AdminModel; onTask: ModelTableProps['onTask'] }) {
  const { t } = useTranslation();
  const entries: MenuEntry[] = [
    { kind: 'action', icon: Pencil, word: t('admin.editTask'), run: () => onTask({ kind: 'edit', model }) },
    {
      kind: 'action',
      icon: Route,
      word: t('admin.models.routingTask'),
      run: () => onTask({ kind: 'routing', model }),
    },
    RULE,
    ...NEXT[model.state].map((state): MenuEntry => ({
      kind: 'action',
      icon: LOOKS[state].icon,
      word: t(state === model.state ? 'admin.models.reschedule' : `admin.models.moves.${state}`),
      effect: t(`admin.models.effects.${state}`),
      destructive: state === 'RETIRED',
      run: () => onTask({ kind: 'state', model, state }),
    })),
  ];
  return (
    <Menu
      entries={entries}
      trigger={
        <IconButton label={t('admin.actionsFor', { name: model.name })}>
          <Ellipsis size={16} strokeWidth={1.75} />
        </IconButton>
      }
    />
  );
}
