/** The head of a page: h1, one sentence that says what is true, actions at the right. */
import { type ReactNode, useEffect } from 'react';

const PRODUCT = 'Gateway';

/** Names the browser's tab after the page. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${PRODUCT}`;
  }, [title]);
}

/** Title, sentence and actions of a page of the console. */
export function PageHead({
  title,
  sentence,
  action,
}: {
  title: string;
  sentence: ReactNode;
  action?: ReactNode;
}) {
  useTitle(title);
  return (
    <header className="mb-6 flex flex-wrap items-start justify-between gap-4">
      <div className="min-w-0 flex-1 basis-64">
        <h1 className="text-title max-sm:sr-only">{title}</h1>
        <p className="mt-1 text-body text-ink-2 max-sm:mt-0">{sentence}</p>
      </div>
      {action}
    </header>
  );
}
