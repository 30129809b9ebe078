/** A search input of a list. "/" focuses it, and the search starts after a pause in typing. */
import { clsx } from 'clsx';
import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { INPUT_FRAME } from './field.tsx';
import { isTyping, singleKeys } from './shortcuts.ts';

const PAUSE_MS = 250;

interface SearchFieldProps {
  label: string;
  placeholder: string;
  value: string | undefined;
  onSearch: (text: string | undefined) => void;
  /** Whether "/" anywhere on the page focuses this input. */
  slash?: boolean;
}

/** The input. It also follows `value`, so that the browser's Back button works. */
export function SearchField({ label, placeholder, value, onSearch, slash = true }: SearchFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value ?? '');
  const [sent, setSent] = useState(value);
  if (sent !== value) {
    setSent(value);
    setText(value ?? '');
  }
  useSlash(slash, input);
  useEffect(() => {
    const wanted = text.trim() === '' ? undefined : text.trim();
    if (wanted === value) return;
    const timer = setTimeout(() => {
      onSearch(wanted);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
    };
    // Only a keystroke restarts the pause, not a render of the parent.
  }, [text]);
  return (
    <div className={clsx(FRAME, INPUT_FRAME)}>
      <Search size={16} strokeWidth={1.75} className="flex-none text-ink-3" aria-hidden="true" />
      <input
        ref={input}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        autoComplete="off"
        onChange={(event) => {
          setText(event.target.value);
        }}
        className="h-full w-full min-w-0 appearance-none bg-transparent text-table outline-none"
      />
      {slash && (
        <kbd
          aria-hidden="true"
          className={clsx(
            'flex h-[18px] items-center rounded-tag border border-line px-1.5 text-tiny',
            'text-ink-3 touch:hidden max-sm:hidden',
          )}
        >
          /
        </kbd>
      )}
    </div>
  );
}

const FRAME =
  'flex h-8 w-[216px] flex-none items-center gap-2 border-control px-2.5 max-sm:w-full touch:h-11';

function useSlash(on: boolean, input: React.RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    if (!on) return;
    const listen = (event: KeyboardEvent) => {
      const taken = isTyping(event) || event.ctrlKey || event.metaKey || event.altKey;
      if (event.key !== '/' || taken || !singleKeys.get()) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', listen);
    return () => {
      removeEventListener('keydown', listen);
    };
  }, [on, input]);
}
