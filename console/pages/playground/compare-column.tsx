/** One model of a comparison: its head, and its own temporary chat. */
import { Square, X } from 'lucide-react';
import { type Ref, useEffect, useImperativeHandle } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { useTranslation } from '../../translation.ts';
import type { ChatMessage, Picture } from './documents.ts';
import { MessageList } from './message-list.tsx';
import { ModelPicker } from './model-picker.tsx';
import type { PickedModel } from './models.ts';
import { type Settings, settingsFor } from './settings.ts';
import { useChat } from './use-chat.ts';

/** Actions of the page on a column. */
export interface ColumnActions {
  send: (content: string, pictures: Picture[]) => Promise<boolean>;
  stop: () => void;
}

/** State of a column, for the page. */
export interface ColumnState {
  isBusy: boolean;
  /** Start of the running reply, RFC 3339; undefined if none is running. */
  runningSince: string | undefined;
  messages: readonly ChatMessage[];
}

interface ColumnProps {
  ref: Ref<ColumnActions>;
  model: PickedModel;
  /** The models that the column can change to, with its own one. */
  models: readonly PickedModel[];
  settings: Settings;
  onModel: (name: string) => void;
  /** Undefined if the comparison needs this column. */
  onRemove: (() => void) | undefined;
  onState: (state: ColumnState) => void;
}

const NOTHING = (): void => undefined;

/** The column. The service stores nothing of its chat, whatever the switches say. */
export function CompareColumn({ ref, model, models, settings, onModel, onRemove, onState }: ColumnProps) {
  const chat = useChat({
    ...{ chatId: undefined, storing: false, temporary: true, onCreated: NOTHING, onChanged: NOTHING },
    settingsOf: () => settingsFor(settings, model),
  });
  const { running, busy, failure } = chat;
  const { messages, tree } = chat.chat;
  const runningSince = running?.createdAt;
  useEffect(() => {
    onState({ isBusy: busy, runningSince, messages });
    // `messages` is a new list on every render; its last member changes with the chat.
  }, [busy, runningSince, messages.length, messages.at(-1)]);
  useImperativeHandle(ref, () => ({
    send: (content, pictures) => chat.send({ content, pictures, model: model.name }),
    stop: () => void chat.stop(),
  }));
  return (
    <section aria-label={model.name} className={COLUMN}>
      <ColumnHead {...{ model, models, onModel, onRemove }} onStop={running && (() => void chat.stop())} />
      <div className="min-h-0 flex-1 overflow-y-auto max-lg:overflow-visible" tabIndex={-1}>
        {failure && (
          <p role="alert" className="px-4 pt-4 text-bad">
            {failure.sentence}
          </p>
        )}
        <MessageList
          narrow
          messages={messages}
          tree={tree}
          models={[]}
          idle={!running && !busy}
          onShow={chat.show}
          onAgain={(reply, name) => void chat.again(reply, name)}
        />
      </div>
    </section>
  );
}

interface HeadProps extends Pick<ColumnProps, 'model' | 'models' | 'onModel' | 'onRemove'> {
  /** Stops the running reply; undefined if none is running. */
  onStop: (() => void) | undefined;
}

function ColumnHead({ model, models, onModel, onRemove, onStop }: HeadProps) {
  const { t } = useTranslation();
  return (
    <header className="flex min-h-12 flex-none items-center gap-2 border-b border-line px-3 py-2">
      {/* Another model begins a new chat, so a running reply would be lost. */}
      <ModelPicker models={onStop ? [model] : models} model={model} onModel={onModel} />
      <span className="ml-auto" />
      {onStop && (
        <Button
          size="small"
          aria-label={t('prompts.compare.stop', { model: model.name })}
          icon={<Square size={12} fill="currentColor" aria-hidden="true" />}
          onClick={onStop}
        >
          {t('playground.stop')}
        </Button>
      )}
      {onRemove && (
        <IconButton
          label={t('prompts.compare.remove', { model: model.name })}
          disabled={onStop !== undefined}
          onClick={onRemove}
        >
          <X size={16} strokeWidth={1.75} />
        </IconButton>
      )}
    </header>
  );
}

const COLUMN = 'flex min-h-0 min-w-0 flex-col border-line max-lg:border-b lg:border-r lg:last:border-r-0';
