/** Webhooks: the addresses to which the gateway sends events, and what was sent to them. */
import { CircleCheck, CircleMinus, CircleX, type LucideIcon, Plus, TriangleAlert } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { EmptyFirst } from '../../components/notice.tsx';
import { StateWord, type Tone } from '../../components/state-word.tsx';
import { useTranslation } from '../../translation.ts';
import { Part, ProfileFrame } from '../profile/profile-frame.tsx';
import { Deliveries } from './deliveries.tsx';
import { type Endpoint, WebhooksQuery } from './documents.ts';
import { EndpointMenu } from './endpoint-menu.tsx';
import type { WebhookDialogOpen } from './webhook-dialogs.tsx';

const loadDialogs = () => import('./webhook-dialogs.tsx');
const WebhookDialog = lazy(async () => ({ default: (await loadDialogs()).WebhookDialog }));

/** The page. */
export function WebhooksPage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: WebhooksQuery });
  const [open, setOpen] = useState<WebhookDialogOpen>();
  const [shown, setShown] = useState<string>();
  const refresh = () => again({ requestPolicy: 'network-only' });
  const close = () => {
    setOpen(undefined);
    refresh();
  };
  const create = (
    <Button
      variant="primary"
      icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
      onPointerEnter={() => void loadDialogs()}
      onClick={() => setOpen({ kind: 'create' })}
    >
      {t('webhooks.create')}
    </Button>
  );
  const endpoints = data?.webhookEndpoints ?? [];
  const selected = endpoints.find(({ id }) => id === shown) ?? endpoints[0];
  return (
    <ProfileFrame viewer={data?.viewer} error={error} onRetry={again}>
      {({ role }) => (
        <>
          <Part title={t('profile.tabs.webhooks')} sentence={t('webhooks.sentence')} action={create}>
            {endpoints.length === 0 ? (
              <EmptyFirst title={t('webhooks.none')} sentence={t('webhooks.noneSentence')} />
            ) : (
              <EndpointTable endpoints={endpoints} onOpen={setOpen} onShow={setShown} onChanged={refresh} />
            )}
          </Part>
          {selected && <Deliveries key={selected.id} endpoint={selected} />}
          <Suspense>
            {open && <WebhookDialog admin={role === 'ADMIN'} open={open} onClose={close} />}
          </Suspense>
        </>
      )}
    </ProfileFrame>
  );
}

type Look = 'ENABLED' | 'FAILING' | 'DISABLED' | 'FAILED';
const LOOKS: Record<Look, { icon: LucideIcon; tone: Tone }> = {
  ENABLED: { icon: CircleCheck, tone: 'good' },
  FAILING: { icon: TriangleAlert, tone: 'warn' },
  DISABLED: { icon: CircleMinus, tone: 'quiet' },
  FAILED: { icon: CircleX, tone: 'bad' },
};

function lookOf({ state, failingSince }: Endpoint): Look {
  return state === 'ENABLED' && failingSince !== null ? 'FAILING' : state;
}

interface TableProps {
  endpoints: readonly Endpoint[];
  onOpen: (open: WebhookDialogOpen) => void;
  /** Shows the deliveries of an endpoint. */
  onShow: (id: string) => void;
  onChanged: () => void;
}

function EndpointTable({ endpoints, ...acts }: TableProps) {
  const { t } = useTranslation();
  const state = (endpoint: Endpoint) => (
    <StateWord {...LOOKS[lookOf(endpoint)]} word={t(`webhooks.states.${lookOf(endpoint)}`)} />
  );
  const menu = (endpoint: Endpoint) => <EndpointMenu endpoint={endpoint} {...acts} />;
  const columns: Column<Endpoint>[] = [
    { id: 'url', header: t('webhooks.url'), cell: ({ row }) => <Address endpoint={row.original} /> },
    { id: 'state', header: t('webhooks.state'), cell: ({ row }) => state(row.original) },
    {
      id: 'menu',
      header: t('webhooks.actions'),
      meta: { silent: true, right: true },
      cell: ({ row }) => menu(row.original),
    },
  ];
  return (
    <DataTable
      label={t('profile.tabs.webhooks')}
      rows={endpoints}
      idOf={({ id }) => id}
      columns={columns}
      card={(endpoint) => (
        <div className="flex flex-wrap items-center justify-between gap-3 text-table">
          <div className="min-w-0">
            <Address endpoint={endpoint} />
          </div>
          {state(endpoint)}
          {menu(endpoint)}
        </div>
      )}
    />
  );
}

function Address({ endpoint: { url, description, events } }: { endpoint: Endpoint }) {
  const { t } = useTranslation();
  const words = events.map((event) => t(`webhooks.events.${event}`)).join(t('state.separator'));
  return (
    <>
      <div className="font-[550] break-all">{url}</div>
      <div className="text-hint text-ink-3">{description ? `${description} · ${words}` : words}</div>
    </>
  );
}
