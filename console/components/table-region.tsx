/** The place of a table. If the table is wider, it scrolls inside this region, which the keyboard reaches. */
import { clsx } from 'clsx';
import { MoveHorizontal } from 'lucide-react';
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from '../translation.ts';

/** The region with a hint above it while the table is wider than its place. */
export function TableRegion({ label, children }: { label: string; children: ReactNode }) {
  const { t } = useTranslation();
  const box = useRef<HTMLDivElement>(null);
  const isWider = useOverflow(box);
  return (
    <>
      {isWider && (
        <p className="mb-1 flex items-center gap-1.5 text-hint text-ink-3">
          <MoveHorizontal size={14} strokeWidth={1.75} aria-hidden="true" />
          {t('table.scrolls')}
        </p>
      )}
      <div
        ref={box}
        className={clsx('relative', isWider ? SCROLLS : FITS)}
        {...(isWider && { role: 'region', tabIndex: 0, 'aria-label': t('table.region', { name: label }) })}
      >
        {children}
      </div>
    </>
  );
}

// A box that scrolls sideways also catches vertical scrolling. So the header sticks to the box, which is not
// higher than the window.
const SCROLLS = 'max-h-[80dvh] overflow-auto border-x border-line [--head-top:0px]';
const FITS = '[--head-top:var(--bar,0px)]';

/** Whether the content of the box is wider than the box. */
function useOverflow(box: RefObject<HTMLElement | null>): boolean {
  const [isWider, setWider] = useState(false);
  useLayoutEffect(() => {
    const element = box.current;
    const content = element?.firstElementChild;
    if (!element || !content) return undefined;
    const measure = () => setWider(content.scrollWidth > element.clientWidth + 1);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    observer.observe(content);
    return () => observer.disconnect();
  }, [box]);
  return isWider;
}
