/** Hooks that repeat work, or re-render, as time passes. */
import { useEffect, useRef, useState } from 'react';

/** Calls `run` every `milliseconds` while the component is mounted. */
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

/** The current time in ms since 1970, updated every `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEvery(everyMs, () => {
    setNow(Date.now());
  });
  return now;
}
