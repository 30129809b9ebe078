/** What stands below the window is neither loaded nor asked for before the reader comes to it. */
import { type ReactNode, useEffect, useRef, useState } from 'react';

/** Keeps the room of a few rows, so that what stands further down is not in sight as well. */
const ROOM = 'min-h-60';

/** The children, from the moment on at which their place is in sight. */
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
