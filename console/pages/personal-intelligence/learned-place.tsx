/** The place of the notice about learned items. Screen readers announce it; it never takes the focus. */
import { lazy, Suspense, useRef } from 'react';
import { useTranslation } from '../../translation.ts';
import { useLearned } from './use-learned.ts';

const LINES_MAX = 3;
// Most visits learn nothing.
const LearnedNotice = lazy(async () => ({ default: (await import('./learned-notice.tsx')).LearnedNotice }));

interface PlaceProps {
  /** Runs when items or switches have changed in any browser. */
  onChanged?: () => void;
  /** Whether there is a link to the page of items; not on that page itself. */
  linked?: boolean;
  className?: string;
}

/** The place; nothing visible if nothing was learned. */
export function LearnedPlace({ onChanged, linked = false, className = '' }: PlaceProps) {
  const { t } = useTranslation();
  const { learned, refresh } = useLearned(onChanged);
  const place = useRef<HTMLDivElement>(null);
  const lines = learned
    .slice(0, LINES_MAX)
    .map(({ item: { id, text }, replacedText }) => ({
      ...{ id, name: text },
      sentence: t(replacedText === null ? 'items.learned' : 'items.learnedChange', { text }),
    }));
  const rest = learned.length - lines.length;
  const more = rest > 0 ? t('items.learnedMore', { count: rest }) : '';
  return (
    <div ref={place} tabIndex={-1} className="outline-none">
      <div role="status" className="sr-only">
        {lines.map(({ id, sentence }) => (
          <p key={id}>{sentence}</p>
        ))}
        {more !== '' && <p>{more}</p>}
      </div>
      <Suspense>
        {lines.length > 0 && (
          <LearnedNotice
            {...{ learned, lines, more, linked, className, refresh }}
            // A pressed button disappears. The focus stays here, not at the start of the page.
            keepFocus={() => place.current?.focus({ preventScroll: true })}
          />
        )}
      </Suspense>
    </div>
  );
}
