/** The keys of a pool, which only work at the pool's address. */
import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleMinus, Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { StateWord } from '../../components/state-word.tsx';
import { Ago } from '../../components/time.tsx';
import { loadWords } from '../../i18n.ts';
import { type TFunction, useTranslation } from '../../translation.ts';
import type { Key, KeyDialog } from '../keys/documents.ts';
import { maskedOf } from '../keys/key-state.ts';
import type { GROUPS } from '../keys/search.ts';
import type { PoolDetail } from './pool-documents.ts';
import { isRunning } from './pool-state.ts';

// The key dialogs need the texts of the key pages.
const loadDialogs = () => Promise.all([import('../keys/key-dialogs.tsx'), loadWords(['keys', 'connect'])]);
const KeyDialogs = lazy(async () => ({ default: (await loadDialogs())[0].KeyDialogs }));

interface PoolKeysProps {
  pool: PoolDetail;
  groups: readonly (typeof GROUPS)[number][];
  onChanged: () => void;
}

/** The list, and a button that creates a key. */
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
          columns={columnsOf(t)}
          card={(key) => <KeyCard apiKey={key} />}
        />
      )}
      {totalCount > 0 && (
        <Link to="/keys" search={{ domain: pool.id }} className="mt-3 inline-block text-accent underline">
          {t('pools.manageKeys')}
        </Link>
      )}
      <Suspense>{dialog && <KeyDialogs dialog={dialog} onChange={change} groups={groups} />}</Suspense>
    </section>
  );
}

function columnsOf(t: TFunction): Column<Key>[] {
  return [
    { id: 'name', header: t('pools.name'), cell: ({ row }) => <Name apiKey={row.original} /> },
    { id: 'state', header: t('pools.state'), cell: ({ row }) => <State apiKey={row.original} /> },
    {
      id: 'used',
      header: t('pools.lastUsed'),
      meta: { right: true },
      cell: ({ row }) => <LastUsed apiKey={row.original} />,
    },
  ];
}

interface CellProps {
  apiKey: Key;
}

function Name({ apiKey }: CellProps) {
  return (
    <>
      <div className="font-[550]">{apiKey.name}</div>
      <code className="text-hint text-ink-3">{maskedOf(apiKey)}</code>
    </>
  );
}

function State({ apiKey: { state } }: CellProps) {
  const { t } = useTranslation();
  const enabled = state === 'ENABLED';
  return (
    <StateWord
      icon={enabled ? CircleCheck : CircleMinus}
      tone={enabled ? 'good' : 'quiet'}
      word={t(enabled ? 'pools.enabled' : 'pools.disabled')}
    />
  );
}

function LastUsed({ apiKey: { lastUsedAt } }: CellProps) {
  const { t } = useTranslation();
  if (lastUsedAt === null) return <span className="text-ink-2">{t('state.never')}</span>;
  return <Ago at={lastUsedAt} />;
}

function KeyCard({ apiKey }: CellProps) {
  return (
    <div className="flex items-start justify-between gap-3">
      <div className="min-w-0">
        <Name apiKey={apiKey} />
      </div>
      <div className="flex flex-col items-end text-table text-ink-2">
        <State apiKey={apiKey} />
        <LastUsed apiKey={apiKey} />
      </div>
    </div>
  );
}
