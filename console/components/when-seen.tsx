/** Renders a part of a page only after the user has scrolled to it, so that its data loads only then. */
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';

/**
 * Height of the empty place before the part appears: that of five rows of a list that is loading, so that the
 * next part is not in view as well.
 */
const PLACE_HEIGHT = 'min-h-55';

/**
 * Renders an empty place, and its children as soon as a part of this place is in view. The place stays while
 * their scripts load: on a page that became shorter, what the user is about to press would move away.
 */
export function WhenSeen({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (seen || !box.current) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    observer.observe(box.current);
    return () => {
      observer.disconnect();
    };
  }, [seen]);
  const place = <div ref={box} className={PLACE_HEIGHT} />;
  return seen ? <Suspense fallback={place}>{children}</Suspense> : place;
}
