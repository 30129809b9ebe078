/** Blockchains: the health of each watcher, its settings and tokens, and the extended public keys. */
import { Plus } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../../components/button.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import { EmptyFirst } from '../../../components/notice.tsx';
import { Day } from '../../../components/time.tsx';
import { useEvery } from '../../../components/use-now.ts';
import { useTranslation } from '../../../translation.ts';
import { Region } from '../region.tsx';
import { useTask } from '../use-task.ts';
import { ChainsQuery, type ChainTask, type DepositKey } from './chain-documents.ts';
import { ChainSection } from './chain-section.tsx';
import { PaymentsFrame } from './payments-frame.tsx';
import { Section } from './section.tsx';

const REFRESH_MS = 10_000;
const ChainDialogs = lazy(async () => ({ default: (await import('./chain-dialogs.tsx')).ChainDialogs }));

/** The page; it refreshes itself every 10 s. */
export function ChainsPage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: ChainsQuery });
  const { task, setTask, close } = useTask<ChainTask>(again);
  useEvery(REFRESH_MS, () => again({ requestPolicy: 'network-only' }));
  const add = (
    <Button
      variant="primary"
      icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
      onClick={() => setTask({ kind: 'chain' })}
    >
      {t('payments.chains.add')}
    </Button>
  );
  return (
    <PaymentsFrame action={add}>
      <p className="mb-6 max-w-[80ch] text-ink-2">{t('payments.chains.sentence')}</p>
      <Region data={data?.admin} error={error} onRetry={again}>
        {({ chains, depositKeys }) => (
          <div className="flex flex-col gap-10">
            {chains.length === 0 && (
              <EmptyFirst title={t('payments.chains.none')} sentence={t('payments.chains.noneSentence')} />
            )}
            {chains.map((chain) => (
              <ChainSection key={chain.chainId} chain={chain} onTask={setTask} />
            ))}
            <Keys keys={depositKeys} onTask={setTask} />
          </div>
        )}
      </Region>
      <Suspense>{task && <ChainDialogs task={task} onClose={close} />}</Suspense>
    </PaymentsFrame>
  );
}

interface KeysProps {
  keys: readonly DepositKey[];
  onTask: (task: ChainTask) => void;
}

function Keys({ keys, onTask }: KeysProps) {
  const { t } = useTranslation();
  const set = <Button onClick={() => onTask({ kind: 'key' })}>{t('payments.chains.setKey')}</Button>;
  return (
    <Section title={t('payments.chains.keys')} action={set}>
      <p className="mb-3 text-ink-2">
        {t(keys.length === 0 ? 'payments.chains.noKeys' : 'payments.chains.keysNote')}
      </p>
      {keys.length > 0 && <KeyTable keys={keys} />}
    </Section>
  );
}

function KeyTable({ keys }: Pick<KeysProps, 'keys'>) {
  const { t } = useTranslation();
  const state = ({ active }: DepositKey) => t(active ? 'payments.chains.active' : 'payments.chains.earlier');
  return (
    <DataTable
      label={t('payments.chains.keys')}
      rows={keys}
      idOf={({ id }) => id}
      columns={[
        {
          id: 'fingerprint',
          header: t('payments.chains.fingerprint'),
          cell: ({ row }) => <code>{row.original.fingerprint}</code>,
        },
        { id: 'state', header: t('admin.state'), cell: ({ row }) => state(row.original) },
        {
          id: 'addresses',
          header: t('payments.chains.addresses'),
          meta: { right: true },
          cell: ({ row }) => row.original.addresses,
        },
        {
          id: 'added',
          header: t('payments.chains.added'),
          cell: ({ row }) => <Day at={row.original.createdAt} />,
        },
      ]}
      card={(key) => (
        <div className="flex flex-col gap-1 text-table">
          <span className="flex justify-between gap-3">
            <code className="break-all">{key.fingerprint}</code>
            {state(key)}
          </span>
          <span className="text-ink-2">
            {t('payments.chains.addresses')}: {key.addresses} · <Day at={key.createdAt} />
          </span>
        </div>
      )}
    />
  );
}
