/** One chat: head, messages, and composer. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Button } from '../../components/button.tsx';
import { WireEmpty } from '../../components/mark.tsx';
import { moneyText } from '../../components/money.tsx';
import { EmptyFirst, Failure, SkeletonRows } from '../../components/notice.tsx';
import { useTranslation } from '../../translation.ts';
import { LearnedPlace } from '../personal-intelligence/learned-place.tsx';
import { ViewerQuery } from '../shell/viewer.ts';
import { ChatHead, StorageBanner } from './chat-head.tsx';
import { Composer, type Draft } from './composer.tsx';
import type { ChatMessage } from './documents.ts';
import type { PickedModel } from './models.ts';
import { MessageList } from './message-list.tsx';
import { type Refused, useChat } from './use-chat.ts';

const ApiCall = lazy(async () => ({ default: (await import('./api-call.tsx')).ApiCall }));

const OpenTasks = lazy(async () => ({ default: (await import('./open-tasks.tsx')).OpenTasks }));

const NO_DRAFT: Draft = { text: '', pictures: [] };

interface ChatProps {
  storing: boolean;
  switchesOn: number;
  /** Whether the switch of open tasks is on. */
  showsTasks: boolean;
  models: readonly PickedModel[];
  defaultModel: string | undefined;
  onChats: (() => void) | undefined;
  onChanged: () => void;
}

/** The chat that the address names, or a new one. */
export function Chat(props: ChatProps) {
  const { storing, switchesOn, models, onChats } = props;
  const [showsCall, setShowsCall] = useState(false);
  const writer = useWriter(props);
  const { chat, running, busy, act, draft, model } = writer;
  const begun = chat.messages.length > 0;
  return (
    <section className="flex min-w-0 flex-1 flex-col">
      <ChatHead
        title={chat.title || (chat.messages[0]?.content.split('\n')[0] ?? '')}
        temporary={chat.temporary}
        onTemporary={begun || chat.id !== undefined ? undefined : (on) => act.reset(on)}
        onApiCall={() => setShowsCall(true)}
        onChats={onChats}
        onNew={begun || chat.id !== undefined ? writer.fresh : undefined}
      />
      <StorageBanner
        stored={begun ? chat.stored && storing : storing && !chat.temporary}
        temporary={chat.temporary}
        switchesOn={switchesOn}
      />
      <div className="min-h-0 flex-1 overflow-y-auto" tabIndex={-1}>
        <Opening writer={writer} showsTasks={props.showsTasks && !chat.temporary} />
        <MessageList
          messages={chat.messages}
          tree={chat.tree}
          models={models}
          onShow={act.show}
          idle={!running && !busy}
          onEdit={writer.edit}
          onAgain={(reply, name) => void act.again(reply, name)}
        />
      </div>
      <ComposerArea writer={writer} models={models} learns={storing} />
      {showsCall && (
        <Suspense>
          <ApiCall
            messages={chat.messages}
            model={model?.name ?? ''}
            draft={draft}
            onClose={() => setShowsCall(false)}
          />
        </Suspense>
      )}
    </section>
  );
}

type Writer = ReturnType<typeof useWriter>;

/** The chat, its draft, and the model that answers. */
function useWriter({ storing, models, defaultModel, onChanged }: ChatProps) {
  const navigate = useNavigate();
  const { chat: chatId, model: asked } = useSearch({ from: '/signed-in/playground' });
  const drafting = useDraft();
  const { draft, setDraft } = drafting;
  const [editing, setEditing] = useState<ChatMessage>();
  const [picked, setPicked] = useState<string>();
  // Keeps the model of the address for the next message.
  const onCreated = (id: string) =>
    void navigate({ to: '/playground', search: { chat: id, model: asked }, replace: true });
  const { chat, running, busy, loading, failure, ...act } = useChat({
    ...{ chatId, storing, onCreated, onChanged },
  });
  const named = [picked, asked, chat.modelName, defaultModel];
  const found = named.map((name) => models.find((item) => item.name === name)).find((item) => item);
  const model = found ?? models[0];
  const edit = (message: ChatMessage | undefined) => {
    setEditing(message);
    setDraft(message ? { text: message.content, pictures: message.attachments } : NO_DRAFT);
  };
  const send = async () => {
    if (!model) return;
    const { text: content, pictures } = draft;
    setDraft(NO_DRAFT);
    const sent = await act.send({ content, pictures, model: model.name, replaces: editing });
    if (sent) setEditing(undefined);
    else setDraft({ text: content, pictures });
  };
  // Keeps the draft. It is not sent automatically, because each message costs money.
  const continueInNew = (temporary: boolean) => {
    act.reset(temporary);
    setEditing(undefined);
    void navigate({ to: '/playground', search: {} });
  };
  const fresh = () => {
    continueInNew(false);
    setDraft(NO_DRAFT);
  };
  const more = { ...drafting, model, setPicked, editing, edit, send, fresh, continueInNew };
  return { chatId, chat, running, busy, loading, failure, act, ...more };
}

/** The draft, and a function that adds a text to it and moves the focus there. */
function useDraft() {
  const [draft, setDraft] = useState(NO_DRAFT);
  const [focusTurn, setFocusTurn] = useState(0);
  const begin = (text: string) => {
    setDraft((now) => ({ ...now, text: now.text.trim() === '' ? text : `${now.text}\n${text}` }));
    setFocusTurn((turn) => turn + 1);
  };
  return { draft, setDraft, focusTurn, begin };
}

/** Shown before the messages: a welcome, a skeleton, or why the chat could not be loaded. */
function Opening({ writer, showsTasks }: { writer: Writer; showsTasks: boolean }) {
  const { loading, chat, chatId, fresh, begin } = writer;
  const { t } = useTranslation();
  const { state } = loading;
  if (state === 'loading') return <SkeletonRows rows={4} height="h-16" />;
  if (state === undefined && (chat.messages.length > 0 || chatId !== undefined)) return null;
  if (state === undefined)
    return (
      <Welcome>
        <Suspense>{showsTasks && <OpenTasks onDraft={begin} />}</Suspense>
      </Welcome>
    );
  if (state === 'gone')
    return (
      <div className="p-6">
        <EmptyFirst title={t('playground.notFound')} sentence={t('playground.notFoundSentence')}>
          <Button onClick={fresh}>{t('playground.newChat')}</Button>
        </EmptyFirst>
      </div>
    );
  return (
    <div className="p-6">
      <Failure
        title={t('playground.loadFailed')}
        safe={t('playground.loadSafe')}
        requestId={requestIdOf(state)}
        onRetry={loading.retry}
      />
    </div>
  );
}

interface ComposerAreaProps {
  writer: Writer;
  models: readonly PickedModel[];
  /** Whether any switch is on, so that something may be learned. */
  learns: boolean;
}

/** The composer, with notices above and below it. */
function ComposerArea({ writer, models, learns }: ComposerAreaProps) {
  const { chat, running, busy, failure, act, model, draft } = writer;
  useEscape(running ? () => void act.stop() : undefined);
  return (
    <div className="mx-auto w-full max-w-[720px] flex-none px-6 pb-3 max-sm:px-3">
      {learns && <LearnedPlace linked className="mb-2" />}
      {writer.editing && <Editing onCancel={() => writer.edit(undefined)} />}
      {failure !== undefined && <Refusal failure={failure} onContinue={writer.continueInNew} />}
      <Composer
        models={models}
        model={model}
        onModel={writer.setPicked}
        draft={draft}
        onDraft={writer.setDraft}
        focusTurn={writer.focusTurn}
        begun={chat.messages.length > 0}
        runningSince={running && Date.parse(running.createdAt)}
        busy={busy}
        onSend={() => void writer.send()}
        onStop={() => void act.stop()}
      />
      <ChargeNote />
    </div>
  );
}

interface RefusalProps {
  failure: Refused;
  /** Continues with the draft in another chat; with `temporary`, in one that is not stored. */
  onContinue: (temporary: boolean) => void;
}

/** Why a message was not sent. If the chat or the storage is full, a button continues in another chat. */
function Refusal({ failure: { sentence, code }, onContinue }: RefusalProps) {
  const { t } = useTranslation();
  const isFull = code === 'CONVERSATION_FULL' || code === 'STORAGE_FULL';
  const temporary = code === 'STORAGE_FULL';
  return (
    <div className="mb-2 flex flex-wrap items-center gap-3">
      <p role="alert" className="min-w-0 flex-1 basis-48 text-bad">
        {sentence}
      </p>
      {isFull && (
        <Button size="small" onClick={() => onContinue(temporary)}>
          {t(temporary ? 'playground.temporary' : 'playground.newChat')}
        </Button>
      )}
    </div>
  );
}

function Welcome({ children }: { children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <div className="mx-auto max-w-[720px] px-6 pt-16 max-sm:px-4 max-sm:pt-8">
      <WireEmpty />
      <h2 className="mt-6 text-section">{t('playground.emptyTitle')}</h2>
      <p className="mt-1 text-ink-2">{t('playground.emptySentence')}</p>
      {children}
    </div>
  );
}

function Editing({ onCancel }: { onCancel: () => void }) {
  const { t } = useTranslation();
  return (
    <p className="mb-2 flex items-center gap-3 text-table text-ink-2">
      <span className="flex-1">{t('playground.editing')}</span>
      <button type="button" className="font-[550] text-accent touch:min-h-11" onClick={onCancel}>
        {t('playground.cancelEdit')}
      </button>
    </p>
  );
}

/** The available balance, and the charge of a message. */
function ChargeNote() {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: ViewerQuery, requestPolicy: 'cache-first' });
  const available = data?.viewer?.wallet.available ?? '0';
  return (
    <p className="mt-2 text-center text-hint text-ink-3 max-sm:hidden">
      {t('playground.chargeNote', { amount: moneyText(available) })}
    </p>
  );
}

/** Escape stops the reply, unless a dialog or a menu is open: Escape closes that instead. */
function useEscape(stop: (() => void) | undefined): void {
  useEffect(() => {
    if (!stop) return;
    const listen = (event: KeyboardEvent) => {
      const open = document.querySelector('[role=dialog], [role=menu]');
      if (event.key === 'Escape' && !open && !event.defaultPrevented) stop();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [stop]);
}
