/** The head of a page: title, one sentence, actions at the right. */
import type { ReactNode } from 'react';
import { useTitle } from './page-title.ts';

interface PageHeadProps {
  title: string;
  sentence: ReactNode;
  action?: ReactNode;
}

/** Head of a page of the console. On a phone, the bar above the page shows the title instead. */
export function PageHead({ title, sentence, action }: PageHeadProps) {
  useTitle(title);
  return (
    <header className="mb-6 flex flex-wrap items-start justify-between gap-x-4 gap-y-3 max-sm:mb-5">
      <div className="min-w-0 flex-1 basis-44">
        <h1 className="text-title max-sm:sr-only">{title}</h1>
        <p className="mt-1 text-body text-ink-2 max-sm:mt-0">{sentence}</p>
      </div>
      {action}
    </header>
  );
}

interface DetailHeadProps {
  title: string;
  /** The name of the breadcrumb, for screen readers. */
  trail: string;
  /** The link to the list. */
  back: ReactNode;
  /** State and tags beside the title. */
  marks?: ReactNode;
  /** Shown under the title. */
  children?: ReactNode;
  action?: ReactNode;
}

/** Head of the page of one object: breadcrumb, name, state, actions at the right. */
export function DetailHead({ title, trail, back, marks, children, action }: DetailHeadProps) {
  useTitle(title);
  return (
    <header className="mb-6 max-sm:mb-5">
      <nav aria-label={trail} className="mb-1 flex items-center gap-1.5 text-table text-ink-2">
        <span className="rounded-tag hover:text-ink hover:underline">{back}</span>
        <span aria-hidden="true" className="text-ink-3">
          /
        </span>
        <span className="min-w-0 truncate text-ink-3">{title}</span>
      </nav>
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-60">
          <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
            <h1 className="min-w-0 text-title [overflow-wrap:anywhere]">{title}</h1>
            {marks}
          </div>
          {children !== undefined && <div className="mt-1.5 text-ink-2">{children}</div>}
        </div>
        {action}
      </div>
    </header>
  );
}
