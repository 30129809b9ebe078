/** One user for administrators: profile, wallet, usage, sessions, keys, entries, events. */
import { Link, useParams } from '@tanstack/react-router';
import { type ComponentProps, lazy, Suspense, useState } from 'react';
import { useQuery } from 'urql';
import { SkeletonRows } from '../../../components/notice.tsx';
import { DetailHead } from '../../../components/page-head.tsx';
import { Tag } from '../../../components/tag.tsx';
import { WhenSeen } from '../../../components/when-seen.tsx';
import { loadWords } from '../../../i18n.ts';
import { useTranslation } from '../../../translation.ts';
import { NotFound } from '../../shell/not-found.tsx';
import { MoreMenu } from './more-menu.tsx';
import { Region } from '../region.tsx';
import { type UserDetail, UserQuery } from './user-documents.ts';
import { WalletBalance, LastMonth, Profile, UserSection, UserStateWord } from './user-facts.tsx';
import { UserSessions } from './user-sessions.tsx';
import { type UserTask, useUserEntries } from './user-tasks.ts';

const DAY_MS = 86_400_000;
const MONTH_DAYS = 30;
// Key states need the texts of the key pages.
const loadKeys = () => Promise.all([import('./user-keys.tsx'), loadWords(['keys'])]);
const UserKeys = lazy(async () => ({ default: (await loadKeys())[0].UserKeys }));
const UserEntries = lazy(async () => ({ default: (await import('./user-entries.tsx')).UserEntries }));
const UserEvents = lazy(async () => ({ default: (await import('./user-events.tsx')).UserEvents }));
const UserDialogs = lazy(async () => ({ default: (await import('./user-dialogs.tsx')).UserDialogs }));

/** The last 30 days. Whole UTC days, so that the query stays the same while the page is open. */
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
  const [{ data, error }, again] = useQuery({ query: UserQuery, variables: { id, month } });
  const [task, setTask] = useState<UserTask>();
  const [changes, setChanges] = useState(0);
  const reload = () => {
    setChanges((count) => count + 1);
    again({ requestPolicy: 'network-only' });
  };
  return (
    <>
      <Region data={data?.admin} error={error} onRetry={again}>
        {({ user }) => (user ? <Detail user={user} onTask={setTask} changes={changes} /> : <NotFound />)}
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

function Detail({ user, onTask, changes }: DetailProps & { changes: number }) {
  const { t } = useTranslation();
  return (
    <>
      <Head user={user} onTask={onTask} />
      <div className="grid grid-cols-2 gap-x-10 gap-y-8 max-lg:grid-cols-1">
        <Profile user={user} />
        <div className="flex flex-col gap-8">
          <WalletBalance user={user} />
          <LastMonth user={user} />
        </div>
      </div>
      <UserSection title={t('admin.user.sessions')}>
        <UserSessions user={user} onTask={onTask} />
      </UserSection>
      <LazySection title={t('admin.user.keys')}>
        <UserKeys key={changes} user={user} onTask={onTask} />
      </LazySection>
      <LazySection
        title={t('admin.user.entries')}
        more={
          <Link to="/admin/ledger" search={{ search: user.id }} className={MORE}>
            {t('admin.users.entries')}
          </Link>
        }
      >
        <UserEntries key={changes} id={user.id} />
      </LazySection>
      <LazySection
        title={t('admin.places.audit')}
        more={
          <Link to="/admin/audit" search={{ search: user.id }} className={MORE}>
            {t('admin.user.allEvents')}
          </Link>
        }
      >
        <UserEvents key={changes} id={user.id} />
      </LazySection>
    </>
  );
}

/** A section that loads when it scrolls into view. */
function LazySection({ children, ...part }: ComponentProps<typeof UserSection>) {
  return (
    <UserSection {...part}>
      <WhenSeen>
        <Suspense fallback={<SkeletonRows />}>{children}</Suspense>
      </WhenSeen>
    </UserSection>
  );
}

function Head({ user, onTask }: DetailProps) {
  const { t } = useTranslation();
  const entries = useUserEntries(user, onTask);
  return (
    <DetailHead
      title={user.email}
      trail={t('shell.breadcrumb')}
      back={
        <Link to="/admin/users" activeOptions={{ exact: true }}>
          {t('admin.places.users')}
        </Link>
      }
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

const MORE = 'text-table text-accent underline';
