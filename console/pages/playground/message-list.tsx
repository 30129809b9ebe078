/** The messages of a chat, questions at the right, each with its actions. */
import { clsx } from 'clsx';
import { Pencil, RefreshCw, Replace } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useEffect, useRef } from 'react';
import { IconButton } from '../../components/button.tsx';
import { CopyIcon } from '../../components/copy.tsx';
import { Menu } from '../../components/menu.tsx';
import { exactText, formatOf } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import type { ChatMessage } from './documents.ts';
import { FailedReply } from './failed-reply.tsx';
import { Measures } from './measures.tsx';
import { useModelOptions } from './model-picker.tsx';
import type { PickedModel } from './models.ts';
import { addressOf } from './pictures.ts';
import { versionsOf } from './thread.ts';
import { UsedItems } from './used-items.tsx';
import { VersionSwitch } from './version-switch.tsx';

// The Markdown renderer is large, and not needed before the first reply.
const ReplyText = lazy(async () => ({ default: (await import('./reply-text.tsx')).ReplyText }));

interface ListProps {
  /** The messages of the branch that is shown. */
  messages: readonly ChatMessage[];
  /** The messages of all branches. */
  tree: readonly ChatMessage[];
  /** The models that can reply again; empty to offer only the model of the reply. */
  models: readonly PickedModel[];
  /** Whether the list is one column of a comparison. */
  narrow?: boolean;
  /** False while a reply is running; other actions are disabled then. */
  idle: boolean;
  /** Undefined if questions cannot be edited. */
  onEdit?: (message: ChatMessage) => void;
  onAgain: (reply: ChatMessage, model: string) => void;
  /** Shows another version of a message, with the messages after it. */
  onShow: (id: string) => void;
}

/** The list. It stays scrolled to its end while a reply is written, unless the user scrolled up. */
export function MessageList({ messages, tree, models, narrow = false, idle, ...on }: ListProps) {
  const { onEdit, onAgain, onShow } = on;
  const end = useRef<HTMLDivElement>(null);
  const { t } = useTranslation();
  const last = messages.at(-1);
  useEffect(() => {
    const box = end.current?.parentElement?.parentElement;
    if (!box) return;
    const away = box.scrollHeight - box.scrollTop - box.clientHeight;
    if (away < NEAR_PX || last?.content === '') end.current?.scrollIntoView({ block: 'end' });
  }, [messages.length, last?.content, last?.state]);
  return (
    <div className={clsx(LIST, narrow ? 'px-4 py-4' : 'mx-auto max-w-[720px] px-6 py-6 max-sm:px-4')}>
      {messages.map((message) => {
        const versions = <VersionSwitch versions={versionsOf(tree, message)} onShow={onShow} />;
        const { id } = message;
        return message.role === 'USER' ? (
          <Question key={id} {...{ message, versions }} onEdit={idle ? onEdit : undefined} />
        ) : (
          <Reply key={id} {...{ message, versions, models }} onAgain={idle ? onAgain : undefined} />
        );
      })}
      <p className="sr-only" role="status">
        {last?.role === 'ASSISTANT' &&
          t(last.state === 'STREAMING' ? 'playground.started' : 'playground.finished')}
      </p>
      <div ref={end} />
    </div>
  );
}

const LIST = 'flex w-full flex-col gap-6';

/** Distance from the end, in pixels, within which the list follows the reply. */
const NEAR_PX = 240;

interface QuestionProps {
  message: ChatMessage;
  versions: ReactNode;
  onEdit: ((message: ChatMessage) => void) | undefined;
}

function Question({ message, versions, onEdit }: QuestionProps) {
  const { t } = useTranslation();
  return (
    <article aria-label={t('playground.you')} className="group flex flex-col items-end gap-1">
      {message.attachments.length > 0 && (
        <div className="flex flex-wrap justify-end gap-2">
          {message.attachments.map((picture, index) => (
            <img
              key={index}
              src={addressOf(picture)}
              alt={t('playground.picture', { number: index + 1 })}
              className="max-h-48 max-w-full rounded-card border border-line"
            />
          ))}
        </div>
      )}
      {message.content !== '' && <p className={BUBBLE}>{message.content}</p>}
      <div className="flex items-center">
        {versions}
        <CopyIcon text={message.content} label={t('playground.copyMessage')} />
        {onEdit && (
          <IconButton label={t('playground.edit')} onClick={() => onEdit(message)}>
            <Pencil size={15} strokeWidth={1.75} />
          </IconButton>
        )}
      </div>
    </article>
  );
}

const BUBBLE =
  'max-w-[85%] rounded-dialog rounded-br-tag border border-line bg-hover px-4 py-2.5 text-chat ' +
  'whitespace-pre-wrap [overflow-wrap:anywhere]';

interface ReplyProps {
  message: ChatMessage;
  versions: ReactNode;
  models: readonly PickedModel[];
  onAgain: ((reply: ChatMessage, model: string) => void) | undefined;
}

function Reply({ message, versions, models, onAgain }: ReplyProps) {
  const { t, i18n } = useTranslation();
  const { state, modelName, content, reasoning } = message;
  const at = new Date(message.createdAt);
  const clock = formatOf(i18n.language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return (
    <article aria-label={modelName ?? ''} className="min-w-0">
      <header className="mb-1 flex items-baseline gap-2">
        <code>{modelName}</code>
        <time
          className="text-hint text-ink-3"
          dateTime={message.createdAt}
          title={exactText(at, i18n.language)}
        >
          {clock.format(at)}
        </time>
      </header>
      <UsedItems used={message.usedItems} />
      {reasoning && (
        <details className="my-2 text-table text-ink-2">
          <summary>{t('playground.thinking')}</summary>
          <p className="mt-1 border-l-2 border-line pl-3 whitespace-pre-wrap">{reasoning}</p>
        </details>
      )}
      {state === 'STREAMING' && content === '' ? (
        <span className="spinner mt-2 block text-accent" />
      ) : (
        <Suspense fallback={<p className="text-chat whitespace-pre-wrap">{content}</p>}>
          <ReplyText text={content} writing={state === 'STREAMING'} />
        </Suspense>
      )}
      {state === 'FAILED' && <FailedReply {...{ message, versions, onAgain }} />}
      {state !== 'STREAMING' && state !== 'FAILED' && <Actions {...{ message, versions, models, onAgain }} />}
    </article>
  );
}

function Actions({ message, versions, models, onAgain }: ReplyProps) {
  const { t } = useTranslation();
  const { modelName } = message;
  return (
    <footer className="mt-1 flex flex-wrap items-center gap-1 text-table text-ink-3">
      {versions}
      <CopyIcon text={message.content} label={t('playground.copyMessage')} />
      {onAgain && (
        <>
          <IconButton label={t('playground.replyAgain')} onClick={() => onAgain(message, modelName ?? '')}>
            <RefreshCw size={15} strokeWidth={1.75} />
          </IconButton>
          {models.length > 0 && <AgainWith {...{ message, models, onAgain }} />}
        </>
      )}
      {message.state === 'STOPPED' && <span className="ml-2 text-warn">{t('playground.stopped')}</span>}
      <Measures message={message} />
    </footer>
  );
}

interface AgainWithProps extends Pick<ReplyProps, 'message' | 'models'> {
  onAgain: NonNullable<ReplyProps['onAgain']>;
}

/** The menu of models that can reply again. */
function AgainWith({ message, models, onAgain }: AgainWithProps) {
  const { t } = useTranslation();
  const options = useModelOptions(models);
  const label = t('playground.replyAgainWith');
  const choose = (name: string) => onAgain(message, name);
  return (
    <Menu
      trigger={
        <button type="button" className={MORE} aria-label={label}>
          <Replace size={15} strokeWidth={1.75} aria-hidden="true" />
        </button>
      }
      entries={[{ kind: 'choices', label, value: message.modelName ?? '', options, choose, searched: true }]}
    />
  );
}

const MORE =
  'inline-flex size-7 items-center justify-center rounded-control text-ink-2 hover:bg-hover touch:size-11';
