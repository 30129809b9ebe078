/** The list of users, with state, groups and balance. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Ellipsis, Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useQuery } from 'urql';
import { Button, IconButton } from '../../../components/button.tsx';
import { type Column, DataTable } from '../../../components/data-table.tsx';
import { Filter, Menu } from '../../../components/menu.tsx';
import { decimalsOf, Money } from '../../../components/money.tsx';
import { EmptyFiltered } from '../../../components/notice.tsx';
import { FIRST_PAGE, pageVariables } from '../../../components/search-parameters.ts';
import { PageHead } from '../../../components/page-head.tsx';
import { orderBy } from '../../../components/sort-order.ts';
import { useSelection } from '../../../components/use-selection.ts';
import { SearchField } from '../../../components/search-field.tsx';
import { FACT, type Sorting } from '../../../components/table-types.ts';
import { Tag } from '../../../components/tag.tsx';
import { Day } from '../../../components/time.tsx';
import { type TFunction, useTranslation } from '../../../translation.ts';
import { type AdminUser, UsersQuery } from './documents.ts';
import { PagedList } from '../paged-list.tsx';
import { type AdminSearch, USER_STATES } from '../search.ts';
import { UserStateWord } from './user-facts.tsx';
import { type UserTask, useUserEntries } from './user-tasks.ts';

const USERS_PER_PAGE = 50;
/** Fields of the service that sort by a column. */
const ORDERS = { email: 'EMAIL', since: 'CREATED_AT' } as const;
const loadDialogs = () => import('./user-dialogs.tsx');
const UserBulk = lazy(async () => ({ default: (await import('./user-bulk.tsx')).UserBulk }));
const UserDialogs = lazy(async () => ({ default: (await loadDialogs()).UserDialogs }));

/** The list of users. */
export function UsersPage() {
  const { t } = useTranslation();
  const search = useSearch({ from: '/admin/users' });
  const navigate = useNavigate({ from: '/admin/users' });
  const [{ data, error }, again] = useQuery({ query: UsersQuery, variables: variablesOf(search) });
  const [task, setTask] = useState<UserTask>();
  const create = (
    <Button
      variant="primary"
      icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
      onClick={() => setTask({ kind: 'create' })}
    >
      {t('admin.users.create')}
    </Button>
  );
  return (
    <>
      <PageHead title={t('admin.places.users')} sentence={t('admin.users.sentence')} action={create} />
      <UserFilters search={search} />
      <PagedList
        connection={data?.admin?.users}
        error={error}
        onRetry={again}
        page={search}
        onGo={(page) => void navigate({ search: { ...search, ...page } })}
        empty={
          <EmptyFiltered sentence={t('admin.users.none')} onClear={() => void navigate({ search: {} })} />
        }
      >
        {(users) => (
          <UserTable
            users={users}
            onTask={setTask}
            sorting={{
              value: search.sort,
              onSort: (sort) => void navigate({ search: { ...search, ...FIRST_PAGE, sort } }),
            }}
          />
        )}
      </PagedList>
      <Suspense>
        {task && (
          <UserDialogs task={task} onClose={() => setTask(undefined)} onChanged={() => reload(again)} />
        )}
      </Suspense>
    </>
  );
}

function UserFilters({ search }: { search: AdminSearch }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/admin/users' });
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <SearchField
        label={t('admin.users.search')}
        placeholder={t('admin.users.searchHint')}
        value={search.search}
        onSearch={(text) => void navigate({ search: { ...search, search: text, ...FIRST_PAGE } })}
      />
      <Filter
        name={t('admin.state')}
        value={search.state}
        onChange={(state) => void navigate({ search: { ...search, state, ...FIRST_PAGE } })}
        options={USER_STATES.map((value) => ({ value, word: t(`admin.users.states.${value}`) }))}
      />
    </div>
  );
}

function variablesOf(search: AdminSearch) {
  return {
    first: USERS_PER_PAGE,
    ...pageVariables(search),
    orderBy: orderBy(search.sort, ORDERS),
    search: search.search ?? null,
    states: search.state ? [search.state] : null,
  };
}

function reload(again: (options: { requestPolicy: 'network-only' }) => void): void {
  again({ requestPolicy: 'network-only' });
}

interface UserTableProps {
  users: readonly AdminUser[];
  onTask: (task: UserTask) => void;
  sorting: Sorting;
}

const emailOf = ({ email }: AdminUser): string => email;

function UserTable({ users, onTask, sorting }: UserTableProps) {
  const { t } = useTranslation();
  const { chosen, clear, selection } = useSelection(users, emailOf);
  return (
    <>
      <DataTable
        label={t('admin.places.users')}
        name="users"
        sorting={sorting}
        selection={selection}
        rows={users}
        idOf={({ id }) => id}
        columns={columnsOf(t, users, onTask)}
        card={(user) => (
          <div className="flex flex-col gap-1.5">
            <div className="flex items-start justify-between gap-3">
              <div className="min-w-0">
                <Who user={user} />
              </div>
              <UserMenu user={user} onTask={onTask} />
            </div>
            <div className="flex items-center justify-between gap-3">
              <UserStateWord state={user.state} />
              <Money amount={user.wallet.available} />
            </div>
          </div>
        )}
      />
      <Suspense>{chosen.length > 0 && <UserBulk users={chosen} onClear={clear} />}</Suspense>
    </>
  );
}

function columnsOf(
  t: TFunction,
  users: readonly AdminUser[],
  onTask: UserTableProps['onTask'],
): Column<AdminUser>[] {
  const align = decimalsOf(users.map(({ wallet }) => wallet.available));
  return [
    {
      id: 'email',
      header: t('admin.users.user'),
      meta: { sort: 'asc' },
      cell: ({ row }) => <Who user={row.original} />,
    },
    {
      id: 'state',
      header: t('admin.state'),
      cell: ({ row }) => <UserStateWord state={row.original.state} />,
    },
    {
      id: 'groups',
      header: t('admin.users.allowed'),
      meta: FACT,
      cell: ({ row }) => <Groups user={row.original} />,
    },
    {
      id: 'since',
      header: t('admin.users.created'),
      meta: { fact: true, sort: 'desc' },
      cell: ({ row }) => <Day at={row.original.createdAt} />,
    },
    {
      id: 'available',
      header: t('shell.available'),
      meta: { right: true },
      cell: ({ row }) => (
        <Money amount={row.original.wallet.available} align={align} className="font-semibold" />
      ),
    },
    {
      id: 'menu',
      header: t('admin.actions'),
      meta: { silent: true, right: true },
      cell: ({ row }) => <UserMenu user={row.original} onTask={onTask} />,
    },
  ];
}

interface CellProps {
  user: AdminUser;
}

function Who({ user: { id, email, displayName, role } }: CellProps) {
  const { t } = useTranslation();
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 font-[550] break-all">
        <Link to="/admin/users/$id" params={{ id }} className="row-link">
          {email}
        </Link>{' '}
        {role === 'ADMIN' && <Tag>{t('admin.badge')}</Tag>}
      </div>
      {displayName !== null && <div className="text-hint text-ink-3">{displayName}</div>}
    </>
  );
}

function Groups({ user: { allowedGroups } }: CellProps) {
  const { t } = useTranslation();
  return (
    <span className="text-ink-2">
      {allowedGroups.map((group) => t(`groups.${group}`)).join(t('state.separator'))}
    </span>
  );
}

function UserMenu({ user, onTask }: CellProps & Pick<UserTableProps, 'onTask'>) {
  const { t } = useTranslation();
  const entries = useUserEntries(user, onTask);
  return (
    <Menu
      entries={entries}
      trigger={
        <IconButton label={t('admin.actionsFor', { name: user.email })}>
          <Ellipsis size={16} strokeWidth={1.75} />
        </IconButton>
      }
    />
  );
}
