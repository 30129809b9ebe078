/** The keys of one user, each with a button that disables it. */
import type { ReactNode } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../../components/button.tsx';
import { type Column, DataTable } from '../../../components/data-table.tsx';
import { decimalsOf, Money } from '../../../components/money.tsx';
import { StateWord } from '../../../components/state-word.tsx';
import { FACT } from '../../../components/table-types.ts';
import { Ago } from '../../../components/time.tsx';
import { type TFunction, useTranslation } from '../../../translation.ts';
import { lookOf, maskedOf, stateOf } from '../../keys/key-state.ts';
import type { AdminUser } from './documents.ts';
import { Region } from '../region.tsx';
import { ShownOfTotal, NothingYet } from './user-facts.tsx';
import { type UserKey, type UserKeyList, UserKeysQuery } from './user-key-documents.ts';
import type { UserTask } from './user-tasks.ts';

interface UserKeysProps {
  user: AdminUser;
  onTask: (task: UserTask) => void;
}

/** The keys. The owner cannot enable a key that an administrator disabled. */
export function UserKeys({ user, onTask }: UserKeysProps) {
  const [{ data, error }, again] = useQuery({ query: UserKeysQuery, variables: { id: user.id } });
  return (
    <Region data={data?.admin?.user?.apiKeys} error={error} onRetry={again}>
      {(keys) => <KeyTable keys={keys} user={user} onTask={onTask} />}
    </Region>
  );
}

function KeyTable({ keys: { nodes, totalCount }, user, onTask }: UserKeysProps & { keys: UserKeyList }) {
  const { t } = useTranslation();
  const disable = (key: UserKey) =>
    key.state === 'ENABLED' && (
      <Button size="small" onClick={() => onTask({ kind: 'key', user, key })}>
        {t('admin.user.disableTask')}
      </Button>
    );
  if (nodes.length === 0) return <NothingYet />;
  return (
    <>
      <DataTable
        label={t('admin.user.keys')}
        rows={nodes}
        idOf={({ id }) => id}
        columns={keyColumns(t, nodes, disable)}
        card={(key) => (
          <div className="flex items-center justify-between gap-3 text-table">
            <div>
              <KeyName apiKey={key} /> <KeyStateWord apiKey={key} />
            </div>
            {disable(key)}
          </div>
        )}
      />
      <ShownOfTotal shown={nodes.length} total={totalCount} />
    </>
  );
}

function keyColumns(
  t: TFunction,
  keys: readonly UserKey[],
  disable: (key: UserKey) => ReactNode,
): Column<UserKey>[] {
  const align = decimalsOf(keys.map(({ spentThisMonth }) => spentThisMonth));
  return [
    { id: 'name', header: t('keys.name'), cell: ({ row }) => <KeyName apiKey={row.original} /> },
    { id: 'state', header: t('keys.state'), cell: ({ row }) => <KeyStateWord apiKey={row.original} /> },
    {
      id: 'group',
      header: t('keys.group'),
      meta: FACT,
      cell: ({ row }) => t(`groups.${row.original.group}`),
    },
    {
      id: 'used',
      header: t('keys.lastUsed'),
      meta: FACT,
      cell: ({ row }) =>
        row.original.lastUsedAt === null ? t('state.never') : <Ago at={row.original.lastUsedAt} />,
    },
    {
      id: 'month',
      header: t('keys.month'),
      meta: { fact: true, right: true },
      cell: ({ row }) => <Money amount={row.original.spentThisMonth} align={align} />,
    },
    {
      id: 'disable',
      header: t('admin.user.disable'),
      meta: { silent: true, right: true },
      cell: ({ row }) => disable(row.original),
    },
  ];
}

function KeyName({ apiKey }: { apiKey: UserKey }) {
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

function KeyStateWord({ apiKey }: { apiKey: UserKey }) {
  const { t } = useTranslation();
  const state = stateOf(apiKey);
  return <StateWord {...lookOf(state)} word={t(`keys.states.${state}`)} />;
}
