/** The clock of a page: what is done, and drawn, again as time passes. */
import { useEffect, useRef, useState } from 'react';

/** Does something after each so many milliseconds, for as long as the component is there. */
export function useEvery(milliseconds: number, run: () => void): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    const timer = setInterval(() => {
      latest.current();
    }, milliseconds);
    return () => {
      clearInterval(timer);
    };
  }, [milliseconds]);
}

/** Now, in milliseconds since 1970, told anew after each so many milliseconds. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEvery(everyMs, () => {
    setNow(Date.now());
  });
  return now;
}
