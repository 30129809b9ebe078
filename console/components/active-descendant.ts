/** The selected option of a list of the search library, for screen readers. */
import { useCommandState } from 'cmdk';
import { type RefObject, useLayoutEffect } from 'react';

interface ActiveDescendantProps {
  /** The value of the selected option. */
  id: string;
  /** The root of the list. */
  root: RefObject<HTMLDivElement | null>;
}

/**
 * Sets aria-activedescendant to the selected option after each change. The library only does so for arrow
 * keys, and names the previous option if its options are rendered later. Render this inside of the root.
 */
export function ActiveDescendant({ id, root }: ActiveDescendantProps) {
  // Renders again when the library sets the attribute.
  useCommandState(({ selectedItemId }) => selectedItemId);
  useLayoutEffect(() => {
    const input = root.current?.querySelector('[cmdk-input]');
    const option = root.current?.querySelector(`[cmdk-item][data-value="${CSS.escape(id)}"]`);
    if (option) input?.setAttribute('aria-activedescendant', option.id);
    else input?.removeAttribute('aria-activedescendant');
  });
  return null;
}
