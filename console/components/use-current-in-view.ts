/** Keeps the current link visible in a row of links that scrolls sideways on a phone. */
import { useLocation } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef } from 'react';

/**
 * Returns a ref for the row, which must be positioned. Scrolls only the row, until the current link is
 * centred.
 */
export function useCurrentInView(): RefObject<HTMLElement | null> {
  const row = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  useEffect(() => {
    const current = row.current?.querySelector<HTMLElement>('[aria-current="page"]');
    if (!row.current || !current) return;
    row.current.scrollLeft = current.offsetLeft - (row.current.clientWidth - current.offsetWidth) / 2;
  }, [pathname]);
  return row;
}
