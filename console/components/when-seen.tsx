/** Delays parts of a page until they scroll into view, so that they do not load before. */
import { type ReactNode, useEffect, useRef, useState } from 'react';

/** Reserves the height of a few rows, so that later parts are not in view at the same time. */
const ROOM = 'min-h-60';

/** Renders its children once their place has scrolled into view. */
export function WhenSeen({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (!box.current) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    observer.observe(box.current);
    return () => {
      observer.disconnect();
    };
  }, [seen]);
  return seen ? children : <div ref={box} className={ROOM} />;
}
