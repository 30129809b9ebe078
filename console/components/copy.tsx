/**
 * Copy buttons. After a press a button shows and announces for two seconds that the text was copied. If the
 * browser gives no access to the clipboard, it shows and announces how to copy the text by keyboard.
 */
import { clsx } from 'clsx';
import { Check, Copy } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useTranslation } from '../translation.ts';

const COPIED_MS = 2_000;

type Outcome = 'idle' | 'copied' | 'failed';

/**
 * Returns `copy`, which writes `text` to the clipboard and resolves to whether that succeeded, and the
 * outcome of the last copy. The outcome "copied" becomes "idle" after two seconds. The outcome "failed" means
 * that the browser gives no access to the clipboard; it stays until the next copy.
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

// Browsers refuse access over plain http and without permission. Callers then select the text for Ctrl C.
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

/**
 * Icon and text of a copy button, and their announcement to screen readers. The button keeps its width when
 * "copied" replaces "idle". It may become wider for the longer text of "failed".
 */
export function CopyLabel({ outcome, idleText }: { outcome: Outcome; idleText?: string | undefined }) {
  const { t } = useTranslation();
  const texts = { idle: idleText ?? t('copy.copy'), copied: t('copy.copied'), failed: t('copy.press') };
  const icons = { idle: Copy, copied: Check, failed: Copy };
  return (
    <>
      <span className="grid justify-items-center whitespace-nowrap">
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
              {texts[name]}
            </span>
          );
        })}
      </span>
      <span className="sr-only" role="status">
        {outcome === 'idle' ? '' : texts[outcome]}
      </span>
    </>
  );
}

/**
 * A text for machines, such as an address, in a frame with a copy button. If the copy fails, the text is
 * selected, so that the user can press Ctrl C.
 */
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
        <CopyLabel outcome={outcome} />
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
        {outcome === 'copied' && t('copy.copied')}
        {outcome === 'failed' && t('copy.press')}
      </span>
    </button>
  );
}
