/** The keys of a pool: they work at its own address alone. */
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { StateWord } from '../../components/state-word.tsx';
import { Ago } from '../../components/time.tsx';
import type { Key, KeyDialog } from '../keys/documents.ts';
import { KeyMenu } from '../keys/key-menu.tsx';
import { canReveal, lookOf, maskedOf, stateOf } from '../keys/key-state.ts';
import type { GROUPS } from '../keys/search.ts';
import type { PoolDetail } from './pool-documents.ts';
import { isRunning } from './pool-state.ts';

const loadDialogs = () => import('../keys/key-dialogs.tsx');
const KeyDialogs = lazy(async () => ({ default: (await loadDialogs()).KeyDialogs }));

interface PoolKeysProps {
  pool: PoolDetail;
  groups: readonly (typeof GROUPS)[number][];
  onChanged: () => void;
}

/** The list, and the way to a further key. */
export function PoolKeys({ pool, groups, onChanged }: PoolKeysProps) {
  const { t } = useTranslation();
  const [dialog, setDialog] = useState<KeyDialog>();
  const { nodes, totalCount } = pool.keys;
  const create = () => setDialog({ kind: 'create', poolId: pool.id });
  const change = (next: KeyDialog | undefined) => {
    setDialog(next);
    onChanged();
  };
  return (
    <section>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-section">{t('pools.keys')}</h2>
        {isRunning(pool) && (
          <Button
            variant="primary"
            icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
            onPointerEnter={() => void loadDialogs()}
            onClick={create}
          >
            {t('pools.createKey')}
          </Button>
        )}
      </div>
      {nodes.length === 0 ? (
        <p className="text-ink-2">{t('pools.noKeys')}</p>
      ) : (
        <DataTable
          label={t('pools.keys')}
          rows={nodes}
          idOf={({ id }) => id}
          columns={columnsOf(t, setDialog)}
          card={(key) => <KeyCard apiKey={key} open={setDialog} />}
        />
      )}
      {totalCount > nodes.length && (
        <Link to="/keys" search={{ domain: pool.id }} className="mt-3 inline-block text-accent underline">
          {t('pools.allKeys', { count: totalCount })}
        </Link>
      )}
      <Suspense>{dialog && <KeyDialogs dialog={dialog} onChange={change} groups={groups} />}</Suspense>
    </section>
  );
}

type Open = (dialog: KeyDialog) => void;

function columnsOf(t: TFunction, open: Open): Column<Key>[] {
  return [
    { id: 'name', head: t('keys.name'), cell: (key) => <Name apiKey={key} /> },
    { id: 'state', head: t('keys.state'), cell: (key) => <State apiKey={key} open={open} /> },
    { id: 'used', head: t('keys.lastUsed'), cell: (key) => <LastUsed apiKey={key} /> },
    {
      id: 'menu',
      head: t('keys.actions'),
      silent: true,
      right: true,
      cell: (key) => <KeyMenu apiKey={key} open={open} />,
    },
  ];
}

interface CellProps {
  apiKey: Key;
}

function Name({ apiKey }: CellProps) {
  const { t } = useTranslation();
  const masked = maskedOf(apiKey);
  return (
    <>
      <div className="font-[550]">{apiKey.name}</div>
      <div className="text-hint text-ink-3">
        {masked === undefined ? t('keys.noSecret') : <code>{masked}</code>}
      </div>
    </>
  );
}

function State({ apiKey, open }: CellProps & { open: Open }) {
  const { t } = useTranslation();
  const state = stateOf(apiKey);
  return (
    <span className="inline-flex items-center gap-3">
      <StateWord {...lookOf(state)} word={t(`keys.states.${state}`)} />
      {canReveal(apiKey) && (
        <Button size="small" onClick={() => open({ kind: 'ready', key: apiKey })}>
          {t('keys.reveal')}
        </Button>
      )}
    </span>
  );
}

function LastUsed({ apiKey }: CellProps) {
  const { t } = useTranslation();
  if (apiKey.lastUsedAt === null) return <span className="text-ink-2">{t('state.never')}</span>;
  return <Ago at={apiKey.lastUsedAt} />;
}

function KeyCard({ apiKey, open }: CellProps & { open: Open }) {
  return (
    <div className="flex items-start justify-between gap-3">
      <div className="flex min-w-0 flex-col gap-1.5">
        <Name apiKey={apiKey} />
        <State apiKey={apiKey} open={open} />
      </div>
      <KeyMenu apiKey={apiKey} open={open} />
    </div>
  );
}
