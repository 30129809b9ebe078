/** The Escape key stops running replies. */
import { useEffect } from 'react';

/** Calls `stop` for the Escape key, unless a dialog or menu is open, which the key closes. */
export function useEscape(stop: (() => void) | undefined): void {
  useEffect(() => {
    if (!stop) return;
    const listen = (event: KeyboardEvent) => {
      const open = document.querySelector('[role=dialog], [role=menu]');
      if (event.key === 'Escape' && !open && !event.defaultPrevented) stop();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [stop]);
}
