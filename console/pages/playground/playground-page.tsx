/** The Playground: chats with any model, without a key. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { useTitle } from '../../components/page-title.ts';
import { useMedia } from '../../components/store.ts';
import type { ResultOf } from '../../graphql.ts';
import { FIRST_PAGE } from '../../components/search-parameters.ts';
import { loadWords } from '../../i18n.ts';
import { useTranslation } from '../../translation.ts';
import { Chat } from './chat.tsx';
import { PlaygroundQuery } from './documents.ts';
import { modelsOf, type PickedModel } from './models.ts';
import { History } from './history.tsx';

const Compare = lazy(async () => {
  const [part] = await Promise.all([import('./compare.tsx'), loadWords(['prompts'])]);
  return { default: part.Compare };
});
// Loaded when a dialog opens.
const Dialog = lazy(async () => ({ default: (await import('../../components/dialog.tsx')).Dialog }));

/** The page: stored chats at the left, the open chat at the right. */
export function PlaygroundPage() {
  const { t } = useTranslation();
  const { compare } = useSearch({ from: '/signed-in/playground' });
  const [{ data, error }, again] = useQuery({ query: PlaygroundQuery, requestPolicy: 'cache-and-network' });
  useTitle(t('playground.title'));
  const home = data?.viewer;
  if (!home && error)
    return (
      <Failure
        title={t('playground.loadFailed')}
        safe={t('shell.unavailableSafe')}
        requestId={requestIdOf(error)}
        onRetry={() => again({ requestPolicy: 'network-only' })}
      />
    );
  if (!home) return <SkeletonRows />;
  const models = modelsOf(data);
  if (compare === undefined) return <Home home={home} models={models} />;
  return (
    <div data-full className={FULL}>
      <Suspense fallback={<SkeletonRows />}>
        <Compare models={models} first={home.playground.defaultModel?.name} />
      </Suspense>
    </div>
  );
}

interface HomeProps {
  home: NonNullable<ResultOf<typeof PlaygroundQuery>['viewer']>;
  models: PickedModel[];
}

function Home({ home, models }: HomeProps) {
  const { t } = useTranslation();
  const [changes, setChanges] = useState(0);
  const [listOpen, setListOpen] = useState(false);
  const narrow = useMedia('(width < 64rem)');
  const search = useSearch({ from: '/signed-in/playground' });
  const navigate = useNavigate();
  const intelligence = home.personalIntelligence;
  const keeps = intelligence.storing || intelligence.storedConversationCount > 0;
  const fresh = () => {
    setListOpen(false);
    void navigate({ to: '/playground', search: {} });
  };
  const list = (
    <History
      chatId={search.chat}
      find={search.find}
      onFind={(find) => void navigate({ to: '/playground', search: { ...search, find, ...FIRST_PAGE } })}
      page={{ after: search.after, before: search.before }}
      onPage={(page) => void navigate({ to: '/playground', search: { ...search, ...page } })}
      changes={changes}
      onNew={fresh}
      onDeleted={(ids) => {
        if (search.chat !== undefined && ids.includes(search.chat)) fresh();
      }}
    />
  );
  return (
    <div data-full className={FULL}>
      {keeps && !narrow && <div className={SIDE}>{list}</div>}
      {keeps && narrow && listOpen && (
        <Suspense>
          <Dialog open onClose={() => setListOpen(false)} title={t('playground.chats')}>
            {list}
          </Dialog>
        </Suspense>
      )}
      <Chat
        storing={intelligence.storing}
        switchesOn={intelligence.switches.filter((item) => item.enabled).length}
        showsTasks={intelligence.switches.some(({ kind, enabled }) => enabled && kind === 'WORKING_ON')}
        models={models}
        defaultModel={home.playground.defaultModel?.name}
        onChats={keeps && narrow ? () => setListOpen(true) : undefined}
        onChanged={() => setChanges((count) => count + 1)}
      />
    </div>
  );
}

const SIDE = 'flex w-[232px] flex-none flex-col border-r border-line';
const FULL = 'flex min-h-0 flex-1';
