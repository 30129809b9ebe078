/** Shows a file or a command, with a Copy button. */
import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { CopyLabel, useCopy } from './copy.tsx';

interface CodeProps {
  /** The path of the file, or the program that runs the command. */
  head: string;
  code: string;
  /** Shown instead of `code`, if a part of it is too long or secret. Copy still copies `code`. */
  shown?: string | undefined;
  /** The code with colours of its language. */
  coloured?: ReactNode;
  copyLabel: string;
}

/** A block of code with a Copy button. It scrolls inside and is reachable by keyboard. */
export function CodeBlock({ head, code, shown, coloured, copyLabel }: CodeProps) {
  const { outcome, copy } = useCopy(code);
  return (
    <figure className="overflow-hidden rounded-code border border-line bg-sunk">
      <figcaption
        className={clsx(
          'flex h-[38px] items-center justify-between gap-2 border-b border-line pl-3.5',
          'touch:h-11',
        )}
      >
        <code className="truncate text-ink-2">{head}</code>
        <button
          type="button"
          aria-label={copyLabel}
          onClick={() => void copy()}
          className={clsx(
            'flex h-full flex-none items-center gap-1.5 px-3.5 text-table hover:bg-hover',
            outcome === 'copied' ? 'text-good' : 'text-ink-2',
          )}
        >
          <CopyLabel outcome={outcome} />
        </button>
      </figcaption>
      <pre
        tabIndex={0}
        aria-label={head}
        className="overflow-x-auto px-3.5 py-3 text-[12.5px] leading-5 -outline-offset-2"
      >
        {coloured ?? plainlyColoured(shown ?? code)}
      </pre>
    </figure>
  );
}

const TOKENS = /(#[^\n]*$)|("(?:[^"\\\n]|\\.)*")(\s*:)?|('(?:[^'\\\n]|\\.)*')/gm;

// Only enough colour to tell keys from values.
function plainlyColoured(code: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of code.matchAll(TOKENS)) {
    const [whole, comment, text, colon] = match;
    parts.push(code.slice(end, match.index));
    const tone = comment !== undefined ? 'text-ink-3' : colon !== undefined ? 'text-accent' : 'text-good';
    const inked = text !== undefined && colon !== undefined ? text : whole;
    parts.push(
      <span key={match.index} className={tone}>
        {inked}
      </span>,
      whole.slice(inked.length),
    );
    end = match.index + whole.length;
  }
  parts.push(code.slice(end));
  return parts;
}
