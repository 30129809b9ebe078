/** The passkeys of the account. */
import { lazy, Suspense, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { FACT } from '../../components/table-types.ts';
import { Ago, Day } from '../../components/time.tsx';
import { hasPasskeys } from '../../passkeys.ts';
import { useTranslation } from '../../translation.ts';
import type { Passkey, PasskeyTask } from './documents.ts';

const PasskeyDialog = lazy(async () => ({ default: (await import('./passkey-dialogs.tsx')).PasskeyDialog }));

interface PasskeysProps {
  passkeys: readonly Passkey[];
  onChanged: () => void;
}

/** The list, and a button that adds a passkey. */
export function Passkeys({ passkeys, onChanged }: PasskeysProps) {
  const { t } = useTranslation();
  const [task, setTask] = useState<PasskeyTask>();
  return (
    <>
      {passkeys.length > 0 && <PasskeyTable passkeys={passkeys} onTask={setTask} />}
      <div className="not-first:mt-4">
        {hasPasskeys() ? (
          <Button onClick={() => setTask({ kind: 'make' })}>{t('passkeys.make')}</Button>
        ) : (
          <p className="text-hint text-ink-3">{t('passkeys.unsupported')}</p>
        )}
      </div>
      <Suspense>
        {task && (
          <PasskeyDialog
            task={task}
            onClose={() => {
              setTask(undefined);
              onChanged();
            }}
          />
        )}
      </Suspense>
    </>
  );
}

interface TableProps {
  passkeys: readonly Passkey[];
  onTask: (task: PasskeyTask) => void;
}

function PasskeyTable({ passkeys, onTask }: TableProps) {
  const { t } = useTranslation();
  const actions = (passkey: Passkey) => (
    <span className="inline-flex gap-2">
      <Button size="small" onClick={() => onTask({ kind: 'rename', passkey })}>
        {t('passkeys.rename')}
      </Button>
      <Button size="small" onClick={() => onTask({ kind: 'remove', passkey })}>
        {t('passkeys.remove')}
      </Button>
    </span>
  );
  const used = ({ lastUsedAt }: Passkey) =>
    lastUsedAt === null ? t('state.never') : <Ago at={lastUsedAt} />;
  const name = (passkey: Passkey) => <span className="font-[550] break-all">{passkey.name}</span>;
  return (
    <DataTable
      label={t('passkeys.title')}
      rows={passkeys}
      idOf={({ id }) => id}
      columns={[
        { id: 'name', header: t('passkeys.name'), cell: ({ row }) => name(row.original) },
        {
          id: 'made',
          header: t('passkeys.made'),
          meta: FACT,
          cell: ({ row }) => <Day at={row.original.createdAt} />,
        },
        { id: 'used', header: t('passkeys.used'), meta: FACT, cell: ({ row }) => used(row.original) },
        {
          id: 'actions',
          header: t('passkeys.actions'),
          meta: { silent: true, right: true },
          cell: ({ row }) => actions(row.original),
        },
      ]}
      card={(passkey) => (
        <div className="flex flex-wrap items-center justify-between gap-3 text-table">
          {name(passkey)}
          {actions(passkey)}
        </div>
      )}
    />
  );
}
