/** Copy buttons. They show and announce "Copied" for two seconds without changing size. */
import { clsx } from 'clsx';
import { Check, Copy } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useTranslation } from '../translation.ts';

const COPIED_MS = 2_000;

type Outcome = 'idle' | 'copied' | 'failed';

/**
 * Copies `text` to the clipboard. `copy` returns whether it succeeded. The outcome "copied" returns to "idle"
 * after two seconds; "failed" means that the page has no clipboard.
 */
export function useCopy(text: string): { outcome: Outcome; copy: () => Promise<boolean> } {
  const [outcome, setOutcome] = useState<Outcome>('idle');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
    },
    [],
  );
  const copy = async () => {
    const written = await writeClipboard(text);
    setOutcome(written ? 'copied' : 'failed');
    clearTimeout(timer.current);
    if (written)
      timer.current = setTimeout(() => {
        setOutcome('idle');
      }, COPIED_MS);
    return written;
  };
  return { outcome, copy };
}

// There is no clipboard over plain http or without permission; callers then select the text for Ctrl C.
async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Selects all text inside an element. */
export function selectInside(element: HTMLElement | null): void {
  if (element) getSelection()?.selectAllChildren(element);
}

/** Icon and text of a copy button. All outcomes take the same room, so that the width never changes. */
export function CopyWord({ outcome, word }: { outcome: Outcome; word?: string | undefined }) {
  const { t } = useTranslation();
  const words = { idle: word ?? t('copy.copy'), copied: t('copy.copied'), failed: t('copy.press') };
  const icons = { idle: Copy, copied: Check, failed: Copy };
  return (
    <>
      <span className="grid justify-items-center">
        {(['idle', 'copied', 'failed'] as const).map((name) => {
          const Icon = icons[name];
          return (
            <span
              key={name}
              aria-hidden={name !== outcome || undefined}
              className={clsx(
                'col-start-1 row-start-1 flex items-center gap-1.5',
                name !== outcome && 'invisible',
                name === 'failed' && name !== outcome && 'hidden',
              )}
            >
              <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
              {words[name]}
            </span>
          );
        })}
      </span>
      <span className="sr-only" role="status">
        {outcome === 'copied' ? words.copied : ''}
      </span>
    </>
  );
}

/** A text for machines, such as an address, in a frame with a Copy button. */
export function CopyField({ text, label, children }: { text: string; label: string; children?: ReactNode }) {
  const { outcome, copy } = useCopy(text);
  const shown = useRef<HTMLElement>(null);
  const copied = outcome === 'copied';
  return (
    <span
      className={clsx(
        'inline-flex h-7 max-w-full items-stretch rounded-control border bg-raise touch:h-11',
        copied ? 'border-good' : 'border-line',
      )}
    >
      <code ref={shown} className="flex min-w-0 items-center truncate px-2.5">
        {children ?? text}
      </code>
      <button
        type="button"
        aria-label={label}
        onClick={() => {
          void copy().then((written) => {
            if (!written) selectInside(shown.current);
          });
        }}
        className={clsx(
          'flex items-center rounded-r-control border-l px-2.5 text-table hover:bg-hover',
          copied ? 'border-good text-good' : 'border-line text-ink-2',
        )}
      >
        <CopyWord outcome={outcome} />
      </button>
    </span>
  );
}

/** A copy button with only an icon, for names in tables. */
export function CopyIcon({ text, label }: { text: string; label: string }) {
  const { outcome, copy } = useCopy(text);
  const { t } = useTranslation();
  const copied = outcome === 'copied';
  return (
    <button
      type="button"
      aria-label={label}
      title={outcome === 'failed' ? t('copy.press') : label}
      onClick={() => void copy()}
      className={clsx(
        'inline-flex size-6 flex-none items-center justify-center ' +
          'rounded-tag align-middle hover:bg-hover touch-area',
        copied ? 'text-good' : 'text-ink-3',
      )}
    >
      {copied ? <Check size={16} strokeWidth={1.75} /> : <Copy size={16} strokeWidth={1.75} />}
      <span className="sr-only" role="status">
        {copied ? t('copy.copied') : ''}
      </span>
    </button>
  );
}
