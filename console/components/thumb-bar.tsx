/** A bar above a phone's tab bar, for the main action of a page. */
import { clsx } from 'clsx';
import type { ReactNode } from 'react';

/** The bar, fixed above the tab bar. */
export function ThumbBar({ children }: { children: ReactNode }) {
  return (
    <div
      className={clsx(
        'fixed inset-x-0 bottom-[calc(60px+env(safe-area-inset-bottom))] z-20 border-t',
        'border-line bg-page px-4 py-2',
      )}
    >
      {children}
    </div>
  );
}
