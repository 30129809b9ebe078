/** One chat: head, messages, and composer. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { requestIdOf } from '../../client.ts';
import { Button } from '../../components/button.tsx';
import { WireEmpty } from '../../components/mark.tsx';
import { Money } from '../../components/money.tsx';
import { EmptyFirst, Failure, SkeletonRows } from '../../components/notice.tsx';
import { useTranslation } from '../../translation.ts';
import { LearnedPlace } from '../personal-intelligence/learned-place.tsx';
import { ChatHead, StorageBanner } from './chat-head.tsx';
import { type ChatTool, ChatTools } from './chat-tools.tsx';
import { firstCompared } from './compared.ts';
import { Composer, NO_DRAFT } from './composer.tsx';
import { ChargeNote, Editing, RefusalNote } from './composer-notes.tsx';
import type { ChatMessage } from './documents.ts';
import { ModelPicker } from './model-picker.tsx';
import type { PickedModel } from './models.ts';
import { MessageList } from './message-list.tsx';
import { countOf, NO_SETTINGS, settingsFor } from './settings.ts';
import { useChat } from './use-chat.ts';
import { useEscape } from './use-escape.ts';

const OpenTasks = lazy(async () => ({ default: (await import('./open-tasks.tsx')).OpenTasks }));

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
  const compareWith = useCompare(models);
  const [tool, setTool] = useState<ChatTool>();
  const writer = useWriter(props);
  const { chat, running, busy, act, draft, model, settings } = writer;
  const begun = chat.messages.length > 0;
  return (
    <section className="flex min-w-0 flex-1 flex-col">
      <ChatHead
        title={chat.title || (chat.messages[0]?.content.split('\n')[0] ?? '')}
        temporary={chat.temporary}
        onTemporary={begun || chat.id !== undefined ? undefined : (on) => act.reset(on)}
        settingCount={countOf(settings)}
        onTool={setTool}
        onCompare={() => compareWith(model?.name)}
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
      <ChatTools
        {...{ tool, settings, draft, messages: chat.messages }}
        models={model ? [model] : []}
        onSettings={writer.setSettings}
        onDraft={writer.setDraft}
        onClose={() => setTool(undefined)}
      />
    </section>
  );
}

type Writer = ReturnType<typeof useWriter>;

/** Returns a function that opens the comparison of a model with another one. */
function useCompare(models: readonly PickedModel[]) {
  const navigate = useNavigate();
  const names = models.map(({ name }) => name);
  return (model: string | undefined) =>
    void navigate({ to: '/playground', search: { compare: firstCompared(model, names).join(',') } });
}

/** The chat, its draft, and the model that answers. */
function useWriter({ storing, models, defaultModel, onChanged }: ChatProps) {
  const navigate = useNavigate();
  const { chat: chatId, model: asked } = useSearch({ from: '/signed-in/playground' });
  const drafting = useDraft();
  const { draft, setDraft } = drafting;
  const [editing, setEditing] = useState<ChatMessage>();
  const [picked, setPicked] = useState<string>();
  const [settings, setSettings] = useState(NO_SETTINGS);
  // Keeps the model of the address for the next message.
  const onCreated = (id: string) =>
    void navigate({ to: '/playground', search: { chat: id, model: asked }, replace: true });
  const { chat, running, busy, loading, failure, ...act } = useChat({
    ...{ chatId, storing, onCreated, onChanged },
    settingsOf: (name) =>
      settingsFor(
        settings,
        models.find((item) => item.name === name),
      ),
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
  const setting = { settings, setSettings, setPicked };
  const more = { ...drafting, ...setting, model, editing, edit, send, fresh, continueInNew };
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
  const { t } = useTranslation();
  const { chat, running, busy, failure, act, model, draft } = writer;
  useEscape(running ? () => void act.stop() : undefined);
  return (
    <div className="mx-auto w-full max-w-[720px] flex-none px-6 pb-3 max-sm:px-3">
      {learns && <LearnedPlace linked className="mb-2" />}
      {writer.editing && <Editing onCancel={() => writer.edit(undefined)} />}
      {failure !== undefined && <RefusalNote failure={failure} onContinue={writer.continueInNew} />}
      <Composer
        sees={model?.sees}
        draft={draft}
        onDraft={writer.setDraft}
        focusTurn={writer.focusTurn}
        begun={chat.messages.length > 0}
        runningSince={running && Date.parse(running.createdAt)}
        busy={busy}
        onSend={() => void writer.send()}
        onStop={() => void act.stop()}
      >
        <ModelPicker models={models} model={model} onModel={writer.setPicked} />
        {model && (
          <span className="min-w-0 text-table text-ink-3 max-sm:text-hint">
            <Money amount={model.price} className="text-ink-2 max-sm:block" /> {t('playground.perMessage')}
            <span className="max-sm:hidden"> · {t('groups.DEFAULT')}</span>
          </span>
        )}
      </Composer>
      <ChargeNote />
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
