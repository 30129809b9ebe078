/** The signed-in browsers of one user, each with a button that ends its session. */
import { Button } from '../../../components/button.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import { FACT } from '../../../components/table-types.ts';
import { Ago, Day } from '../../../components/time.tsx';
import { useTranslation } from '../../../translation.ts';
import { browserOf } from '../../profile/user-agent.ts';
import type { UserDetail, UserSession } from './user-documents.ts';
import { ShownOfTotal, NothingYet } from './user-facts.tsx';
import type { UserTask } from './user-tasks.ts';

interface SessionsProps {
  user: UserDetail;
  onTask: (task: UserTask) => void;
}

interface CellOf {
  row: { original: UserSession };
}
const since = ({ row }: CellOf) => <Day at={row.original.createdAt} />;
const seen = ({ row }: CellOf) => <Ago at={row.original.lastSeenAt} />;

/** The table of browsers. */
export function UserSessions({ user, onTask }: SessionsProps) {
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
      {t('admin.user.endTask')}
    </Button>
  );
  if (nodes.length === 0) return <NothingYet />;
  return (
    <>
      <DataTable
        label={t('admin.user.sessions')}
        rows={nodes}
        idOf={({ id }) => id}
        columns={[
          { id: 'name', header: t('session.browser'), cell: ({ row }) => name(row.original) },
          { id: 'since', header: t('admin.users.created'), meta: FACT, cell: since },
          { id: 'seen', header: t('session.seen'), meta: FACT, cell: seen },
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
      <ShownOfTotal shown={nodes.length} total={totalCount} />
    </>
  );
}
