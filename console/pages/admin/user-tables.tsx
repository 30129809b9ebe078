/** The browsers and the keys of one user, and the way to end or disable each. */
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Money } from '../../components/money.tsx';
import { StateWord } from '../../components/state-word.tsx';
import { Ago, Day } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { lookOf, maskedOf, stateOf } from '../keys/key-state.ts';
import { browserOf } from '../profile/user-agent.ts';
import type { UserDetail, UserKey, UserSession } from './user-documents.ts';
import type { UserTask } from './user-tasks.ts';

interface TableProps {
  user: UserDetail;
  onTask: (task: UserTask) => void;
}

/** Where the user is signed in. */
export function UserSessions({ user, onTask }: TableProps) {
  const { t } = useTranslation();
  const { nodes, totalCount } = user.sessions;
  const name = ({ userAgent }: UserSession) => (
    <span className="font-[550]" title={userAgent ?? undefined}>
      {browserOf(userAgent) ?? t('session.unknown')}
    </span>
  );
  const address = ({ ip }: UserSession) => <code>{ip ?? t('state.none')}</code>;
  const end = (session: UserSession) => (
    <Button size="small" onClick={() => onTask({ kind: 'session', user, session })}>
      {t('admin.user.end')}
    </Button>
  );
  if (nodes.length === 0) return <p className="text-ink-2">{t('admin.user.none')}</p>;
  return (
    <>
      <DataTable
        label={t('admin.user.sessions')}
        rows={nodes}
        idOf={({ id }) => id}
        columns={[
          { id: 'name', header: t('session.browser'), cell: ({ row }) => name(row.original) },
          {
            id: 'since',
            header: t('admin.users.since'),
            cell: ({ row }) => <Day at={row.original.createdAt} />,
          },
          { id: 'seen', header: t('session.seen'), cell: ({ row }) => <Ago at={row.original.lastSeenAt} /> },
          { id: 'ip', header: t('session.ip'), cell: ({ row }) => address(row.original) },
          {
            id: 'end',
            header: t('admin.user.end'),
            meta: { silent: true, right: true },
            cell: ({ row }) => end(row.original),
          },
        ]}
        card={(session) => (
          <div className="flex items-center justify-between gap-3 text-table">
            <div>
              {name(session)} {address(session)}
            </div>
            {end(session)}
          </div>
        )}
      />
      <Further shown={nodes.length} total={totalCount} />
    </>
  );
}

function KeyName({ apiKey }: { apiKey: UserKey }) {
  const { t } = useTranslation();
  return (
    <>
      <div className="font-[550]">{apiKey.name}</div>
      <div className="text-hint text-ink-3">
        <code>{maskedOf(apiKey) ?? t('keys.noSecret')}</code>
      </div>
    </>
  );
}

function KeyStateWord({ apiKey }: { apiKey: UserKey }) {
  const { t } = useTranslation();
  const state = stateOf(apiKey);
  return <StateWord {...lookOf(state)} word={t(`keys.states.${state}`)} />;
}

/** The user's keys; an administrator can disable one, and its owner cannot enable it again. */
export function UserKeys({ user, onTask }: TableProps) {
  const { t } = useTranslation();
  const { nodes, totalCount } = user.apiKeys;
  const disable = (key: UserKey) =>
    key.state === 'ENABLED' && (
      <Button size="small" onClick={() => onTask({ kind: 'key', user, key })}>
        {t('admin.user.disable')}
      </Button>
    );
  if (nodes.length === 0) return <p className="text-ink-2">{t('admin.user.none')}</p>;
  return (
    <>
      <DataTable
        label={t('admin.user.keys')}
        rows={nodes}
        idOf={({ id }) => id}
        columns={keyColumns(t, disable)}
        card={(key) => (
          <div className="flex items-center justify-between gap-3 text-table">
            <div>
              <KeyName apiKey={key} /> <KeyStateWord apiKey={key} />
            </div>
            {disable(key)}
          </div>
        )}
      />
      <Further shown={nodes.length} total={totalCount} />
    </>
  );
}

function keyColumns(t: TFunction, disable: (key: UserKey) => ReactNode): Column<UserKey>[] {
  return [
    { id: 'name', header: t('keys.name'), cell: ({ row }) => <KeyName apiKey={row.original} /> },
    { id: 'state', header: t('keys.state'), cell: ({ row }) => <KeyStateWord apiKey={row.original} /> },
    { id: 'group', header: t('keys.group'), cell: ({ row }) => t(`groups.${row.original.group}`) },
    {
      id: 'used',
      header: t('keys.lastUsed'),
      cell: ({ row }) =>
        row.original.lastUsedAt === null ? t('state.none') : <Ago at={row.original.lastUsedAt} />,
    },
    {
      id: 'month',
      header: t('keys.month'),
      meta: { right: true },
      cell: ({ row }) => <Money amount={row.original.spentThisMonth} />,
    },
    {
      id: 'disable',
      header: t('admin.user.disable'),
      meta: { silent: true, right: true },
      cell: ({ row }) => disable(row.original),
    },
  ];
}

function Further({ shown, total }: { shown: number; total: number }) {
  const { t } = useTranslation();
  if (total <= shown) return null;
  return <p className="mt-2 text-hint text-ink-3">{t('admin.user.further', { shown, total })}</p>;
}
