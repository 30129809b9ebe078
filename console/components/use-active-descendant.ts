/** The selected option of a list of the search library, for screen readers. */
import { useLayoutEffect, useRef } from 'react';

/**
 * Sets aria-activedescendant to the selected option after each render. The library only does so for arrow
 * keys; after typing it names the previous option. Returns the ref of the list's root.
 */
export function useActiveDescendant(id: string) {
  const root = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const input = root.current?.querySelector('[cmdk-input]');
    const option = root.current?.querySelector(`[cmdk-item][data-value="${CSS.escape(id)}"]`);
    if (option) input?.setAttribute('aria-activedescendant', option.id);
    else input?.removeAttribute('aria-activedescendant');
  });
  return root;
}
