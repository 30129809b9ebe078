/** A small framed word that names a kind, such as "Cash" or "Gift". */
import { clsx } from 'clsx';
import type { ReactNode } from 'react';

/** A tag. */
export function Tag({ children }: { children: ReactNode }) {
  return (
    <span
      className={clsx(
        'inline-flex h-5 items-center rounded-tag border border-line-strong px-1.5 whitespace-nowrap',
        'text-hint text-ink-2',
      )}
    >
      {children}
    </span>
  );
}
