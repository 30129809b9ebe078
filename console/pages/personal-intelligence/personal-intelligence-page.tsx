/** The page of Personal Intelligence: four switches, the state of storage, and the list of items. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Archive, Eye, EyeOff, Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { Banner } from '../../components/notice.tsx';
import { FIRST_PAGE } from '../../components/search-parameters.ts';
import { useTranslation } from '../../translation.ts';
import { useStorageText } from '../playground/storage-text.ts';
import { ProfileFrame } from '../profile/profile-frame.tsx';
import { type Intelligence, IntelligenceQuery } from './documents.ts';
import type { Task } from './item-dialogs.tsx';
import { ItemList } from './item-list.tsx';
import { LearnedPlace } from './learned-place.tsx';
import { ItemFiles } from './item-files.tsx';
import { SwitchCard } from './switch-card.tsx';

const loadDialogs = () => import('./item-dialogs.tsx');
const ItemDialog = lazy(async () => ({ default: (await loadDialogs()).ItemDialog }));

/** The page, one of the profile's tabs. */
export function PersonalIntelligencePage() {
  const [{ data, error }, again] = useQuery({ query: IntelligenceQuery, requestPolicy: 'cache-and-network' });
  const [version, setVersion] = useState(0);
  const [task, setTask] = useState<Task>();
  const refresh = () => {
    again({ requestPolicy: 'network-only' });
    setVersion((now) => now + 1);
  };
  return (
    <ProfileFrame viewer={data?.viewer} error={error} onRetry={refresh}>
      {({ personalIntelligence }) => (
        <>
          <section>
            <Head onTask={setTask} onChanged={refresh} />
            <LearnedPlace onChanged={refresh} className="mb-5" />
            <Switches intelligence={personalIntelligence} onChanged={refresh} />
          </section>
          <ItemList version={version} onTask={setTask} onChanged={refresh} />
          <Ending intelligence={personalIntelligence} onTask={setTask} />
          <Suspense>
            {task && <ItemDialog task={task} onClose={() => setTask(undefined)} onChanged={refresh} />}
          </Suspense>
        </>
      )}
    </ProfileFrame>
  );
}

function Head({ onTask, onChanged }: { onTask: (task: Task) => void; onChanged: () => void }) {
  const { t } = useTranslation();
  return (
    <div className="mb-5 flex flex-wrap items-start gap-x-6 gap-y-3">
      <div className="min-w-0 flex-1 basis-72">
        <h2 className="text-section">{t('intelligence.title')}</h2>
        <p className="mt-1 text-ink-2">{t('intelligence.sentence')}</p>
      </div>
      <div className="flex flex-wrap gap-2" onPointerEnter={() => void loadDialogs()}>
        <Button
          icon={<Eye size={16} strokeWidth={1.75} aria-hidden="true" />}
          onClick={() => onTask({ name: 'preview' })}
        >
          {t('items.preview')}
        </Button>
        <ItemFiles onChanged={onChanged} />
        <Button
          variant="primary"
          icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
          onClick={() => onTask({ name: 'add' })}
        >
          {t('items.add')}
        </Button>
      </div>
    </div>
  );
}

function Switches({ intelligence, onChanged }: { intelligence: Intelligence; onChanged: () => void }) {
  const { t } = useTranslation();
  const search = useSearch({ from: '/signed-in/profile/personal-intelligence' });
  const navigate = useNavigate({ from: '/profile/personal-intelligence' });
  const { storing, switches, storedConversationCount: count, storageUsed } = intelligence;
  const storageText = useStorageText()(storageUsed);
  const on = switches.filter((item) => item.enabled).length;
  const Icon = storing ? Archive : EyeOff;
  return (
    <>
      <Banner tone="quiet" icon={<Icon size={16} strokeWidth={1.75} aria-hidden="true" />}>
        <strong className="font-semibold">
          {storing ? t('intelligence.storing', { count: on }) : t('intelligence.notStoring')}
        </strong>
        {t('state.gap')}
        {storing && t('intelligence.storingMore') + t('state.gap')}
        {count > 0 && t('intelligence.kept', { count }) + t('state.gap')}
        {storageText}
      </Banner>
      <ul className="mt-5 grid grid-cols-2 gap-4 max-lg:grid-cols-1">
        {switches.map((item) => (
          <SwitchCard
            key={item.kind}
            item={item}
            reader={intelligence.readingModel}
            onChanged={onChanged}
            onShow={(kind) => void navigate({ search: { ...search, kind, ...FIRST_PAGE } })}
          />
        ))}
      </ul>
      <Reading intelligence={intelligence} />
    </>
  );
}

/** The name of the model that reads chats, and the number of waiting chats. */
function Reading({ intelligence: { readingModel, pendingJobs, storing } }: { intelligence: Intelligence }) {
  const { t } = useTranslation();
  return (
    <p className="mt-3 text-hint text-ink-3">
      {readingModel === null ? t('items.noReader') : t('items.reader', { model: readingModel })}
      {t('state.gap')}
      {storing && pendingJobs > 0 && t('items.waiting', { count: pendingJobs })}
    </p>
  );
}

interface EndingProps {
  intelligence: Intelligence;
  onTask: (task: Task) => void;
}

/** The list of filtered topics, and buttons that delete everything. */
function Ending({ intelligence: { switches }, onTask }: EndingProps) {
  const { t } = useTranslation();
  const count = switches.reduce((sum, { itemCount }) => sum + itemCount, 0);
  return (
    <section className="border-t border-line pt-6">
      <p className="max-w-[80ch] text-table text-ink-2">{t('items.neverLearned')}</p>
      <div className="mt-4 flex flex-wrap gap-2">
        {count > 0 && (
          <Button variant="destructive" onClick={() => onTask({ name: 'deleteAll', count })}>
            {t('items.deleteAll')}
          </Button>
        )}
        <Button variant="destructive" onClick={() => onTask({ name: 'forget' })}>
          {t('items.forget')}
        </Button>
      </div>
    </section>
  );
}
