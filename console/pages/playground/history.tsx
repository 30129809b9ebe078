/** The list of stored chats: search, open, rename, delete. */
import { clsx } from 'clsx';
import { Link } from '@tanstack/react-router';
import { Ellipsis, Pencil, Plus, Trash2 } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { type CombinedError, useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Menu } from '../../components/menu.tsx';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { Pager } from '../../components/pager.tsx';
import { type ListPage, pageVariables } from '../../components/search-parameters.ts';
import { SearchField } from '../../components/search-field.tsx';
import { useTranslation } from '../../translation.ts';
import { ChatsQuery } from './documents.ts';
import type { ChatTask } from './history-dialogs.tsx';
import { useStorageText } from './storage-text.ts';

const ChatDialog = lazy(async () => ({ default: (await import('./history-dialogs.tsx')).ChatDialog }));

export interface ChatRow {
  id: string;
  title: string;
  updatedAt: string;
}

interface HistoryProps {
  chatId: string | undefined;
  /** The search text. */
  find: string | undefined;
  onFind: (text: string | undefined) => void;
  /** The cursor of the list's page; undefined for the first page. */
  page: ListPage;
  onPage: (page: ListPage) => void;
  /** Counter of changes on this page; the list reloads after each change. */
  changes: number;
  onNew: () => void;
  onDeleted: (ids: readonly string[]) => void;
}

/** The list, most recently used first. */
export function History({ chatId, find, page, changes, ...on }: HistoryProps) {
  const { t } = useTranslation();
  const label = t('playground.search');
  const [task, setTask] = useState<ChatTask>();
  const { list, used, error, refresh } = useChats({ find, page, changes });
  const { nodes: rows = [], totalCount: total = 0, pageInfo } = list ?? {};
  const done = (deleted: readonly string[]) => {
    setTask(undefined);
    refresh();
    on.onDeleted(deleted);
  };
  return (
    <nav aria-label={t('playground.chats')} className="flex min-h-0 flex-1 flex-col gap-4 p-3">
      <Button wide icon={<Plus size={16} strokeWidth={1.75} />} onClick={on.onNew}>
        {t('playground.newChat')}
      </Button>
      <div className="[&>div]:w-full">
        <SearchField {...{ label, placeholder: label, value: find, onSearch: on.onFind }} />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto">
        {!list && <NotListed error={error} onRetry={refresh} />}
        <Groups {...{ rows, chatId, find, page }} onTask={setTask} />
        {find !== undefined && list && rows.length === 0 && (
          <p className="px-2 text-table text-ink-2">{t('playground.noMatch')}</p>
        )}
        <Pager page={page} pageInfo={pageInfo} onGo={on.onPage} />
      </div>
      {find === undefined && total > 0 && (
        <Total total={total} used={used} onDelete={() => setTask({ kind: 'delete-all', count: total })} />
      )}
      <Suspense>
        {task && <ChatDialog task={task} onClose={() => setTask(undefined)} onDone={done} />}
      </Suspense>
    </nav>
  );
}

/** The page of the list, reloaded after each change, and the used share of the chat storage. */
function useChats({ find, page, changes }: Pick<HistoryProps, 'find' | 'page' | 'changes'>) {
  const [{ data, error }, again] = useQuery({
    query: ChatsQuery,
    variables: { search: find ?? null, ...pageVariables(page) },
    requestPolicy: 'cache-and-network',
  });
  const [seen, setSeen] = useState(changes);
  const refresh = () => again({ requestPolicy: 'network-only' });
  if (seen !== changes) {
    setSeen(changes);
    refresh();
  }
  const { playground, personalIntelligence } = data?.viewer ?? {};
  return { list: playground?.conversations, used: personalIntelligence?.storageUsed ?? 0, error, refresh };
}

/** Shown while the list loads, or if it could not be loaded. */
function NotListed({ error, onRetry }: { error: CombinedError | undefined; onRetry: () => void }) {
  const { t } = useTranslation();
  if (!error) return <SkeletonRows rows={6} height="h-9" />;
  return (
    <Failure
      title={t('playground.listFailed')}
      safe={t('playground.loadSafe')}
      requestId={requestIdOf(error)}
      onRetry={onRetry}
    />
  );
}

interface GroupsProps {
  rows: readonly ChatRow[];
  chatId: string | undefined;
  find: string | undefined;
  page: ListPage;
  onTask: (task: ChatTask) => void;
}

function Groups({ rows, chatId, onTask, ...place }: GroupsProps) {
  const { t } = useTranslation();
  return groupByDay(rows).map(({ name, chats }) => (
    <section key={name} className="mb-4">
      <h2 className="mb-1 px-2 text-hint text-ink-3">{t(`playground.${name}`)}</h2>
      <ul>
        {chats.map((chat) => (
          <ChatLine key={chat.id} chat={chat} current={chat.id === chatId} {...place} onTask={onTask} />
        ))}
      </ul>
    </section>
  ));
}

interface TotalProps {
  total: number;
  /** Used share of the chat storage, 0 to 1. */
  used: number;
  onDelete: () => void;
}

function Total({ total, used, onDelete }: TotalProps) {
  const { t } = useTranslation();
  const storageText = useStorageText()(used);
  return (
    <p className="px-2 text-hint text-ink-3">
      {storageText !== undefined && (
        <strong className="mb-1 block font-normal text-warn">{storageText}</strong>
      )}
      {t('playground.storedCount', { count: total })}
      {t('state.gap')}
      <button type="button" className="underline touch:min-h-11" onClick={onDelete}>
        {t('playground.deleteAll')}
      </button>
    </p>
  );
}

interface LineProps {
  chat: ChatRow;
  current: boolean;
  find: string | undefined;
  page: ListPage;
  onTask: (task: ChatTask) => void;
}

function ChatLine({ chat, current, find, page, onTask }: LineProps) {
  const { t } = useTranslation();
  const title = chat.title || t('playground.untitled');
  return (
    <li className={clsx('flex items-center rounded-control', current && 'bg-hover font-[550]')}>
      <Link
        to="/playground"
        search={{ chat: chat.id, find, ...page }}
        className="min-w-0 flex-1 truncate px-2 py-1.5 touch:py-3"
      >
        {title}
      </Link>
      <Menu
        trigger={
          <IconButton label={t('playground.chatMenu', { title })}>
            <Ellipsis size={16} strokeWidth={1.75} />
          </IconButton>
        }
        entries={[
          {
            kind: 'action',
            icon: Pencil,
            word: t('playground.renameTask'),
            run: () => onTask({ kind: 'rename', chat }),
          },
          {
            kind: 'action',
            icon: Trash2,
            word: t('playground.deleteTask'),
            destructive: true,
            run: () => onTask({ kind: 'delete', chat }),
          },
        ]}
      />
    </li>
  );
}

const DAY_MS = 86_400_000;

/** Groups chats by the day of their last use. */
function groupByDay(rows: readonly ChatRow[]) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  const nameOf = ({ updatedAt }: ChatRow) => {
    const at = Date.parse(updatedAt);
    return at >= midnight ? 'today' : at >= midnight - DAY_MS ? 'yesterday' : 'earlier';
  };
  return (['today', 'yesterday', 'earlier'] as const)
    .map((name) => ({ name, chats: rows.filter((row) => nameOf(row) === name) }))
    .filter(({ chats }) => chats.length > 0);
}
