/** One user as administrators see it: who it is, what it holds, where it is signed in, what it used. */
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useQuery } from 'urql';
import { DetailHead } from '../../components/page-head.tsx';
import { Tag } from '../../components/tag.tsx';
import { useTranslation } from '../../translation.ts';
import { EntryTable } from '../wallet/entry-table.tsx';
import { NotFound } from '../shell/not-found.tsx';
import { AuditItem } from './audit-item.tsx';
import { MoreMenu } from './more-menu.tsx';
import { Region } from './region.tsx';
import { type UserDetail, type UserPageData, UserQuery } from './user-documents.ts';
import { Holding, LastMonth, Profile, UserPart, UserStateWord } from './user-facts.tsx';
import { UserKeys, UserSessions } from './user-tables.tsx';
import { type UserTask, useUserEntries } from './user-tasks.ts';

const DAY_MS = 86_400_000;
const MONTH_DAYS = 30;
const UserDialogs = lazy(async () => ({ default: (await import('./user-dialogs.tsx')).UserDialogs }));

/** Whole days, so that the query stays the same while the page is open. */
function lastMonth(now: number) {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  return {
    from: new Date(today - (MONTH_DAYS - 1) * DAY_MS).toISOString(),
    to: new Date(today + DAY_MS).toISOString(),
  };
}

/** The page. */
export function UserPage() {
  const { id } = useParams({ from: '/admin/users/$id' });
  const [month] = useState(() => lastMonth(Date.now()));
  const variables = { id, filter: { targetId: id }, month };
  const [{ data, error }, again] = useQuery({ query: UserQuery, variables });
  const [task, setTask] = useState<UserTask>();
  const reload = () => {
    again({ requestPolicy: 'network-only' });
  };
  return (
    <>
      <Region data={data?.admin} error={error} onRetry={again}>
        {(found) => (found.user ? <Detail user={found.user} found={found} onTask={setTask} /> : <NotFound />)}
      </Region>
      <Suspense>
        {task && (
          <UserDialogs
            task={task}
            onChanged={reload}
            onClose={() => {
              setTask(undefined);
              reload();
            }}
          />
        )}
      </Suspense>
    </>
  );
}

interface DetailProps {
  user: UserDetail;
  onTask: (task: UserTask) => void;
}

function Detail({ user, found, onTask }: DetailProps & { found: UserPageData }) {
  const { t } = useTranslation();
  return (
    <>
      <Head user={user} onTask={onTask} />
      <div className="grid grid-cols-2 gap-x-10 gap-y-8 max-lg:grid-cols-1">
        <Profile user={user} />
        <div className="flex flex-col gap-8">
          <Holding user={user} />
          <LastMonth user={user} />
        </div>
      </div>
      <UserPart title={t('admin.user.sessions')}>
        <UserSessions user={user} onTask={onTask} />
      </UserPart>
      <UserPart title={t('admin.user.keys')}>
        <UserKeys user={user} onTask={onTask} />
      </UserPart>
      <UserPart
        title={t('admin.user.entries')}
        more={
          <Link to="/admin/ledger" search={{ search: user.id }} className={MORE}>
            {t('admin.users.entries')}
          </Link>
        }
      >
        {found.ledger.nodes.length > 0 ? <EntryTable entries={found.ledger.nodes} /> : <None />}
      </UserPart>
      <UserPart
        title={t('admin.places.audit')}
        more={
          <Link to="/admin/audit" search={{ search: user.id }} className={MORE}>
            {t('admin.user.allEvents')}
          </Link>
        }
      >
        {found.auditLog.nodes.length === 0 && <None />}
        <ul>
          {found.auditLog.nodes.map((event) => (
            <AuditItem key={event.id} event={event} />
          ))}
        </ul>
      </UserPart>
    </>
  );
}

function Head({ user, onTask }: DetailProps) {
  const { t } = useTranslation();
  const entries = useUserEntries(user, onTask);
  return (
    <DetailHead
      title={user.email}
      trail={t('admin.trail')}
      back={<Link to="/admin/users">{t('admin.places.users')}</Link>}
      marks={
        <>
          {user.role === 'ADMIN' && <Tag>{t('admin.badge')}</Tag>}
          <UserStateWord state={user.state} />
        </>
      }
      action={<MoreMenu name={user.email} entries={entries} />}
    />
  );
}

function None() {
  const { t } = useTranslation();
  return <p className="text-ink-2">{t('admin.user.none')}</p>;
}

const MORE = 'text-table text-accent underline';
