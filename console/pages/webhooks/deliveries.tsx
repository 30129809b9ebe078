/** The deliveries of one webhook, newest first, each of which can be sent again. */
import { CircleCheck, CircleX, Clock, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { EmptyFirst, Failure, SkeletonRows } from '../../components/notice.tsx';
import { Pager } from '../../components/pager.tsx';
import { FIRST_PAGE, pageVariables } from '../../components/search-parameters.ts';
import { StateWord, type Tone } from '../../components/state-word.tsx';
import { Ago } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { Part } from '../profile/profile-frame.tsx';
import { DeliveriesQuery, type Delivery, type Endpoint, ReplayDelivery } from './documents.ts';

const DELIVERIES_PER_PAGE = 25;

/** The list. */
export function Deliveries({ endpoint }: { endpoint: Endpoint }) {
  const { t } = useTranslation();
  const [page, setPage] = useState(FIRST_PAGE);
  const variables = { first: DELIVERIES_PER_PAGE, ...pageVariables(page) };
  const [{ data, error }, again] = useQuery({ query: DeliveriesQuery, variables });
  const refresh = () => again({ requestPolicy: 'network-only' });
  const list = data?.webhookEndpoints.find(({ id }) => id === endpoint.id)?.deliveries;
  const reload = <Button onClick={refresh}>{t('webhooks.refresh')}</Button>;
  return (
    <Part
      title={t('webhooks.deliveries')}
      sentence={t('webhooks.deliveriesSentence', { url: endpoint.url })}
      action={reload}
    >
      {!list && !error && <SkeletonRows />}
      {!list && error && (
        <Failure
          title={t('webhooks.deliveriesFailed')}
          safe={t('profile.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={refresh}
        />
      )}
      {list?.nodes.length === 0 && (
        <EmptyFirst title={t('webhooks.noDeliveries')} sentence={t('webhooks.noDeliveriesSentence')} />
      )}
      {list && list.nodes.length > 0 && <DeliveryTable deliveries={list.nodes} onReplayed={refresh} />}
      <Pager page={page} pageInfo={list?.pageInfo} onGo={setPage} />
    </Part>
  );
}

const LOOKS: Record<Delivery['state'], { icon: LucideIcon; tone: Tone }> = {
  PENDING: { icon: Clock, tone: 'quiet' },
  DELIVERED: { icon: CircleCheck, tone: 'good' },
  FAILED: { icon: CircleX, tone: 'bad' },
};

interface TableProps {
  deliveries: readonly Delivery[];
  onReplayed: () => void;
}

function DeliveryTable({ deliveries, onReplayed }: TableProps) {
  const { t } = useTranslation();
  const replay = useReplay(onReplayed);
  const state = ({ state: now }: Delivery) => (
    <StateWord {...LOOKS[now]} word={t(`webhooks.deliveryStates.${now}`)} />
  );
  const action = ({ id, state: now }: Delivery) =>
    now !== 'PENDING' && (
      <Button size="small" onClick={() => replay(id)}>
        {t('webhooks.replay')}
      </Button>
    );
  const columns: Column<Delivery>[] = [
    { id: 'event', header: t('webhooks.event'), cell: ({ row }) => <Event delivery={row.original} /> },
    { id: 'state', header: t('webhooks.state'), cell: ({ row }) => state(row.original) },
    { id: 'result', header: t('webhooks.result'), cell: ({ row }) => <Result delivery={row.original} /> },
    {
      id: 'action',
      header: t('webhooks.actions'),
      meta: { silent: true, right: true },
      cell: ({ row }) => action(row.original),
    },
  ];
  return (
    <DataTable
      label={t('webhooks.deliveries')}
      name="deliveries"
      rows={deliveries}
      idOf={({ id }) => id}
      columns={columns}
      card={(delivery) => (
        <div className="flex flex-wrap items-center justify-between gap-3 text-table">
          <Event delivery={delivery} />
          {state(delivery)}
          <Result delivery={delivery} />
          {action(delivery)}
        </div>
      )}
    />
  );
}

/** The event with its content, which opens on request. */
function Event({ delivery: { type, createdAt, eventId, payload } }: { delivery: Delivery }) {
  const { t } = useTranslation();
  return (
    <div className="min-w-0">
      <code className="font-[550]">{type}</code>
      <div className="text-hint text-ink-3">
        <Ago at={createdAt} />
      </div>
      <details className="text-hint">
        <summary className="cursor-pointer text-ink-2">{t('webhooks.payload')}</summary>
        <code className="block break-all whitespace-pre-wrap">{`webhook-id: ${eventId}\n${payload}`}</code>
      </details>
    </div>
  );
}

/** The last answer, the number of attempts, and the time of the next attempt. */
function Result({ delivery }: { delivery: Delivery }) {
  const { t } = useTranslation();
  const { responseStatus, error, attempts, nextAttemptAt } = delivery;
  const failure = error === null ? '' : t(`webhooks.failures.${error}`);
  return (
    <div className="text-hint text-ink-2">
      <div>{responseStatus === null ? failure : `HTTP ${responseStatus}`}</div>
      <div>{t('webhooks.attempts', { count: attempts })}</div>
      {nextAttemptAt !== null && attempts > 0 && (
        <div>
          {t('webhooks.next')} <Ago at={nextAttemptAt} />
        </div>
      )}
    </div>
  );
}

/** Sends a delivery again. The result is shown as a toast. */
function useReplay(onReplayed: () => void): (id: string) => void {
  const { t } = useTranslation();
  const toast = useToast();
  const failureWords = useFailureWords();
  const [, replay] = useMutation(ReplayDelivery);
  const send = async (id: string) => {
    const { data, error } = await replay({ input: { id } });
    toast({ text: failureWords(error, data?.webhookDeliveryReplay.userErrors) ?? t('webhooks.replayed') });
    onReplayed();
  };
  return (id) => void send(id);
}
