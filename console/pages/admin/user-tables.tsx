/** The browsers and the keys of one user, and the way to end or disable each. */
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
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
          { id: 'name', head: t('session.browser'), cell: name },
          { id: 'since', head: t('admin.users.since'), cell: ({ createdAt }) => <Day at={createdAt} /> },
          { id: 'seen', head: t('session.seen'), cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} /> },
          { id: 'ip', head: t('session.ip'), cell: address },
          { id: 'end', head: t('admin.user.end'), silent: true, right: true, cell: end },
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
        columns={[
          { id: 'name', head: t('keys.name'), cell: (key) => <KeyName apiKey={key} /> },
          { id: 'state', head: t('keys.state'), cell: (key) => <KeyStateWord apiKey={key} /> },
          { id: 'group', head: t('keys.group'), cell: ({ group }) => t(`groups.${group}`) },
          {
            id: 'used',
            head: t('keys.lastUsed'),
            cell: ({ lastUsedAt }) => (lastUsedAt === null ? t('state.none') : <Ago at={lastUsedAt} />),
          },
          {
            id: 'month',
            head: t('keys.month'),
            right: true,
            cell: ({ spentThisMonth }) => <Money amount={spentThisMonth} />,
          },
          { id: 'disable', head: t('admin.user.disable'), silent: true, right: true, cell: disable },
        ]}
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

function Further({ shown, total }: { shown: number; total: number }) {
  const { t } = useTranslation();
  if (total <= shown) return null;
  return <p className="mt-2 text-hint text-ink-3">{t('admin.user.further', { shown, total })}</p>;
}
