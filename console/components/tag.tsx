/** A small framed word: which of two or three kinds a thing is. */
import { clsx } from 'clsx';
import type { ReactNode } from 'react';

/** The tag. */
export function Tag({ children }: { children: ReactNode }) {
  return (
    <span
      className={clsx(
        'inline-flex h-5 items-center rounded-tag border border-line-strong px-1.5',
        'text-hint text-ink-2',
      )}
    >
      {children}
    </span>
  );
}
