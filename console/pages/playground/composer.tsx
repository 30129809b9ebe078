/** The composer of a message: text, pictures, Send or Stop. */
import { clsx } from 'clsx';
import { ArrowUp, ImagePlus, Square, X } from 'lucide-react';
import { type ClipboardEvent, type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import type { Picture } from './documents.ts';
import { addressOf, PICTURES_MAX } from './pictures.ts';

export interface Draft {
  text: string;
  pictures: Picture[];
}

export const NO_DRAFT: Draft = { text: '', pictures: [] };

interface ComposerProps {
  /** Whether the message goes to models that accept pictures; undefined without a model. */
  sees: boolean | undefined;
  /** The receiver of the message, with its price. */
  children: ReactNode;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  /** Whenever it rises, the text field gets the focus. */
  focusTurn: number;
  begun: boolean;
  /** Start of the running reply in ms since 1970; undefined if no reply is running. */
  runningSince: number | undefined;
  busy: boolean;
  onSend: () => void;
  onStop: () => void;
}

/** The composer. Enter sends; Shift Enter breaks the line. */
export function Composer(props: ComposerProps) {
  const { sees, draft, onDraft, focusTurn, begun, runningSince, busy, onSend } = props;
  const { t } = useTranslation();
  const area = useRef<HTMLTextAreaElement>(null);
  const add = usePictures(draft, onDraft);
  const running = runningSince !== undefined;
  const unreadable = draft.pictures.length > 0 && sees === false;
  const written = draft.text.trim() !== '' || draft.pictures.length > 0;
  const ready = !running && sees !== undefined && written && !unreadable;
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (ready && !busy) onSend();
  };
  const paste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length === 0 || !sees) return;
    event.preventDefault();
    void add([...event.clipboardData.files]);
  };
  useEffect(() => area.current?.focus({ preventScroll: true }), [focusTurn]);
  const label = t(begun ? 'playground.followUp' : 'playground.write');
  return (
    <div className={FRAME}>
      <Pictures draft={draft} onDraft={onDraft} />
      {unreadable && (
        <p role="alert" className="text-table text-warn">
          {t('playground.attachNot')}
        </p>
      )}
      <textarea
        ref={area}
        rows={2}
        aria-label={label}
        placeholder={label}
        value={draft.text}
        onChange={(event) => onDraft({ ...draft, text: event.target.value })}
        onKeyDown={press}
        onPaste={paste}
        className={AREA}
      />
      <div className="flex items-center gap-2 max-[359px]:flex-wrap">
        {props.children}
        <div className="ml-auto flex flex-none items-center gap-2 max-sm:gap-1">
          <AttachButton sees={sees ?? false} add={add} />
          <SendOrStop {...props} ready={ready} />
        </div>
      </div>
    </div>
  );
}

function SendOrStop({ runningSince, busy, ready, onSend, onStop }: ComposerProps & { ready: boolean }) {
  const { t } = useTranslation();
  if (runningSince === undefined)
    return (
      <Button
        variant="primary"
        busy={busy}
        disabled={!ready}
        className="disabled:opacity-50"
        icon={<ArrowUp size={16} strokeWidth={2} />}
        onClick={onSend}
      >
        {t('playground.send')}
      </Button>
    );
  return (
    <>
      <Elapsed since={runningSince} />
      <Button icon={<Square size={12} fill="currentColor" />} onClick={onStop}>
        {t('playground.stop')}
        <kbd className="rounded-tag border border-line px-1 text-tiny text-ink-3 touch:hidden">Esc</kbd>
      </Button>
    </>
  );
}

const AREA =
  'field-sizing-content max-h-60 min-h-12 w-full resize-none bg-transparent px-1 text-chat outline-none';
const FRAME =
  'flex flex-col gap-2 rounded-card border border-control bg-raise p-3 ' +
  'focus-within:border-accent focus-within:shadow-[inset_0_0_0_1px_var(--accent)]';

function AttachButton({ sees, add }: { sees: boolean; add: (files: File[]) => Promise<void> }) {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton
        label={sees ? t('playground.attach') : t('playground.attachNot')}
        disabled={!sees}
        onClick={() => input.current?.click()}
      >
        <ImagePlus size={16} strokeWidth={1.75} />
      </IconButton>
      <input
        ref={input}
        type="file"
        accept="image/*"
        multiple
        hidden
        onChange={(event) => {
          void add([...(event.target.files ?? [])]);
          event.target.value = '';
        }}
      />
    </>
  );
}

function Pictures({ draft, onDraft }: Pick<ComposerProps, 'draft' | 'onDraft'>) {
  const { t } = useTranslation();
  if (draft.pictures.length === 0) return null;
  const without = (index: number) => draft.pictures.filter((_, at) => at !== index);
  return (
    <ul className="flex flex-wrap gap-2">
      {draft.pictures.map((picture, index) => (
        <li key={index} className="relative">
          <img
            src={addressOf(picture)}
            alt={t('playground.picture', { number: index + 1 })}
            className="size-16 rounded-control border border-line object-cover"
          />
          <button
            type="button"
            aria-label={t('playground.removePicture', { number: index + 1 })}
            onClick={() => onDraft({ ...draft, pictures: without(index) })}
            className={clsx(
              'absolute -top-2 -right-2 flex size-6 items-center justify-center rounded-full border',
              'border-line bg-raise touch-area',
            )}
          >
            <X size={14} strokeWidth={1.75} />
          </button>
        </li>
      ))}
    </ul>
  );
}

function usePictures(draft: Draft, onDraft: (draft: Draft) => void) {
  const { t } = useTranslation();
  const toast = useToast();
  return async (files: File[]): Promise<void> => {
    const { pictureOf } = await import('./picture-file.ts');
    const read = await Promise.all(files.slice(0, PICTURES_MAX).map(pictureOf));
    const fresh = read.filter((picture) => picture !== undefined);
    if (fresh.length < read.length) toast({ text: t('playground.badPicture'), failed: true });
    onDraft({ ...draft, pictures: [...draft.pictures, ...fresh].slice(0, PICTURES_MAX) });
  };
}

/** Elapsed seconds, hidden from screen readers, which would read them every second. */
function Elapsed({ since }: { since: number }) {
  const { t } = useTranslation();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((now - since) / 1_000));
  return (
    <span aria-hidden="true" className="flex items-center gap-2 text-table text-accent">
      <span className="spinner" />
      <span className="max-sm:hidden">{t('playground.replying', { seconds })}</span>
    </span>
  );
}
