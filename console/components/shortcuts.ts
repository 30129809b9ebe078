/** Single-key shortcuts. Users can turn them off on this device, because speech input may trigger them. */
import { recall, remember } from './device-storage.ts';
import { createStore } from './store.ts';

const NAME = 'single-keys';
const OFF = 'off';

/** Whether the single-key shortcuts "/" and "?" are enabled. */
export const singleKeys = createStore(recall(NAME) !== OFF);

/** Enables or disables single-key shortcuts, and remembers the choice on this device. */
export function setSingleKeys(on: boolean): void {
  singleKeys.set(on);
  remember(NAME, on ? 'on' : OFF);
}

/** Whether a key press belongs to an input or a dialog. */
export function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [role=dialog]') !== null;
}
