/** Cards of the user's open tasks, above the composer of a new chat. */
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { useClient, useQuery, useSubscription } from 'urql';
import { Button } from '../../components/button.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { ItemDelete } from '../personal-intelligence/documents.ts';
import {
  IntelligenceChanges,
  type OpenTask,
  OpenTasksQuery,
} from '../personal-intelligence/learned-documents.ts';

const TASKS_MAX = 3;
/** Open tasks that the service keeps at most. */
const KEPT_MAX = 10;
/** Characters of a task that name it in a label. */
const NAME_CHARACTERS = 60;

interface TasksProps {
  /** Begins the chat with a draft, which is not sent. */
  onDraft: (text: string) => void;
}

/** The most recent tasks, each with a draft for its continuation; nothing without tasks. */
export function OpenTasks({ onDraft }: TasksProps) {
  const { t } = useTranslation();
  const { tasks, end } = useTasks();
  const title = useRef<HTMLHeadingElement>(null);
  if (tasks.length === 0) return null;
  return (
    <section className="mt-8" aria-labelledby="open-tasks">
      <h3 ref={title} id="open-tasks" tabIndex={-1} className="font-semibold outline-none">
        {t('items.tasksTitle')}
      </h3>
      <ul className="mt-3 grid gap-3 sm:grid-cols-[repeat(auto-fit,minmax(200px,1fr))]">
        {tasks.map((task) => (
          <TaskCard
            key={task.id}
            task={task}
            // In quotation marks, so that the same task is not learned again from the draft.
            onContinue={() => onDraft(t('items.taskDraft', { text: task.text }))}
            onDone={() => {
              // The pressed button disappears with its card.
              title.current?.focus({ preventScroll: true });
              void end(task.id);
            }}
          />
        ))}
      </ul>
    </section>
  );
}

/** The tasks, live, and a function that ends one. An ended task may be learned again in a later chat. */
function useTasks() {
  const { t } = useTranslation();
  const client = useClient();
  const words = useFailureWords();
  const toast = useToast();
  const [{ data }, again] = useQuery({
    query: OpenTasksQuery,
    variables: { first: KEPT_MAX },
    requestPolicy: 'cache-and-network',
  });
  const refresh = () => again({ requestPolicy: 'network-only' });
  useSubscription({ query: IntelligenceChanges }, (_, event) => {
    refresh();
    return event;
  });
  const items = data?.viewer?.personalIntelligence.items.nodes ?? [];
  const tasks = items
    .filter(({ suppressed }) => !suppressed)
    .toSorted((left, right) => Date.parse(right.lastSeenAt) - Date.parse(left.lastSeenAt))
    .slice(0, TASKS_MAX);
  const end = async (id: string) => {
    const input = { ids: [id], neverRelearn: false };
    const { data: done, error } = await client.mutation(ItemDelete, { input });
    const reason = words(error, done?.derivedItemDelete.userErrors);
    toast(reason === undefined ? { text: t('items.taskEnded') } : { text: reason, failed: true });
    refresh();
  };
  return { tasks, end };
}

interface CardProps {
  task: OpenTask;
  onContinue: () => void;
  onDone: () => void;
}

function TaskCard({ task: { text, sources }, onContinue, onDone }: CardProps) {
  const { t } = useTranslation();
  const name = text.slice(0, NAME_CHARACTERS);
  const [source] = sources;
  return (
    <li className="flex min-w-0 flex-col rounded-card border border-line bg-raise p-4">
      <p className="line-clamp-4 [overflow-wrap:anywhere]">{text}</p>
      {source && (
        <Link
          to="/playground"
          search={{ chat: source.conversationId }}
          className="mt-1 block truncate text-hint text-accent touch:py-3"
        >
          {source.conversationTitle || t('items.untitled')}
        </Link>
      )}
      <div className="mt-auto flex flex-wrap gap-2 pt-3">
        <Button size="small" aria-label={t('items.taskContinueOf', { text: name })} onClick={onContinue}>
          {t('items.taskContinue')}
        </Button>
        <Button
          size="small"
          variant="ghost"
          aria-label={t('items.taskDoneOf', { text: name })}
          onClick={onDone}
        >
          {t('items.taskDone')}
        </Button>
      </div>
    </li>
  );
}
