/** The quickstart: from a tool to the cost of its first request, in four steps on one page. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { type ReactNode, useState } from 'react';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { recall, remember } from '../../components/device-storage.ts';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Picker } from '../../components/picker.tsx';
import { useTranslation } from '../../translation.ts';
import { NEW_KEY } from '../keys/search.ts';
import { useMeanwhile } from '../shell/frame-context.ts';
import { CLIENT_NAMES, type Client, clientGroups, clientOf } from './clients.ts';
import { QuickstartQuery } from './documents.ts';
import { CHOSEN_CLIENT, KeySetUp } from './key-set-up.tsx';
import { KeyStep } from './key-step.tsx';
import { Newest } from './newest-request.tsx';
import type { Snippet } from './set-up.tsx';
import type { NewKey } from './use-new-key.ts';

/** While the keys load, the steps have about the heights that they have with a key: nothing moves then. */
const KEY_HEIGHT = 'h-[63px]';
const SETTINGS_HEIGHT = 'h-[52px]';

/** The page. */
export function QuickstartPage() {
  const { t } = useTranslation();
  const meanwhile = useMeanwhile();
  return (
    <>
      <PageHead title={t('shell.quickstart')} sentence={t('quickstart.sentence')} />
      {meanwhile ?? <Steps />}
    </>
  );
}

function Steps() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: QuickstartQuery });
  const { client, key, choose } = useChoice();
  const [made, setMade] = useState<NewKey>();
  const name = CLIENT_NAMES[client];
  const keys = data?.viewer?.apiKeys.nodes ?? [];
  const chosen = keys.find(({ id }) => id === key)?.id ?? (key === NEW_KEY ? key : (keys[0]?.id ?? NEW_KEY));
  const keyId = made?.key.id ?? (chosen === NEW_KEY ? undefined : chosen);
  const preset = data?.viewer?.preset.nodes.find(({ id }) => id === keyId);
  return (
    <ol className="max-w-[760px]">
      <Step number={1} title={t('quickstart.step1')}>
        <Tools client={client} onChoose={(value) => choose({ client: value })} />
      </Step>
      <Step number={2} title={t('quickstart.step2')}>
        {data?.viewer && (
          <KeyStep
            {...{ keys, chosen, made, name }}
            groups={data.viewer.allowedGroups}
            onChoose={(id) => choose({ key: id })}
            onMade={setMade}
          />
        )}
        {!data && !error && <SkeletonRows rows={1} height={KEY_HEIGHT} />}
        {!data && error && (
          <Failure
            title={t('quickstart.pageFailed')}
            safe={t('connect.failedSafe')}
            requestId={requestIdOf(error)}
            onRetry={again}
          />
        )}
      </Step>
      {data || error ? (
        <Rest {...{ keyId, client }} secret={made?.secret} known={preset?.clientSnippets} />
      ) : (
        <Step number={3} title={t('quickstart.step3', { name })}>
          <SkeletonRows rows={10} height={SETTINGS_HEIGHT} />
        </Step>
      )}
    </ol>
  );
}

interface RestProps {
  /** Undefined until a key is chosen. */
  keyId: string | undefined;
  secret: string | undefined;
  client: Client;
  /** The settings for this key, if they are loaded. */
  known: readonly Snippet[] | undefined;
}

/** The steps that need a key. */
function Rest({ keyId, secret, client, known }: RestProps) {
  const { t } = useTranslation();
  const name = CLIENT_NAMES[client];
  const later = (words: string) => <p className="text-ink-2">{words}</p>;
  return (
    <>
      <Step number={3} title={t('quickstart.step3', { name })}>
        {keyId === undefined ? (
          later(t('quickstart.step3Later'))
        ) : (
          <KeySetUp {...{ keyId, secret, client, known }} />
        )}
      </Step>
      <Step number={4} title={t('quickstart.step4')}>
        {keyId === undefined ? later(t('quickstart.step4Later')) : <Newest keyId={keyId} tool={name} />}
      </Step>
    </>
  );
}

/** The tool and the key in the address, and a function that changes them. */
function useChoice() {
  const search = useSearch({ from: '/signed-in/quickstart' });
  const navigate = useNavigate({ from: '/quickstart' });
  return {
    client: clientOf(search.client ?? recall(CHOSEN_CLIENT)),
    key: search.key,
    choose: (change: typeof search) =>
      void navigate({ search: { ...search, ...change }, replace: true, resetScroll: false }),
  };
}

function Tools({ client, onChoose }: { client: Client; onChoose: (client: string) => void }) {
  const { t } = useTranslation();
  return (
    <Picker
      label={t('connect.tool')}
      groups={clientGroups(t)}
      value={client}
      onChange={(value) => {
        remember(CHOSEN_CLIENT, value);
        onChoose(value);
      }}
    />
  );
}

function Step({ number, title, children }: { number: number; title: string; children: ReactNode }) {
  return (
    <li className={STEP}>
      <span className={NUMBER} aria-hidden="true">
        {number}
      </span>
      <div className="min-w-0 flex-1">
        <h2 className="mb-3 text-section">{title}</h2>
        {children}
      </div>
    </li>
  );
}

const STEP = 'flex gap-4 border-t border-line py-6 first:border-0 first:pt-0 max-sm:flex-col max-sm:gap-2';
const NUMBER = clsx(
  'flex size-6 flex-none items-center justify-center rounded-full border border-line-strong text-hint',
  'font-semibold text-ink-2 max-sm:hidden',
);
