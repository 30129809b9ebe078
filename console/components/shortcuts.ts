/** Shortcuts of a single key, which can be switched off on this device: speech input may hit them. */
import { createStore } from './store.ts';
import { recall, remember } from './theme.ts';

const NAME = 'single-keys';
const OFF = 'off';

/** Whether "/" and "?" do something. */
export const singleKeys = createStore(recall(NAME) !== OFF);

/** Switches them on or off and remembers it on this device. */
export function setSingleKeys(on: boolean): void {
  singleKeys.set(on);
  remember(NAME, on ? 'on' : OFF);
}

/** Whether a key press belongs to a text or a dialog. */
export function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [role=dialog]') !== null;
}
