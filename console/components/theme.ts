/**
 * The theme: light, dark, or the system's, remembered on this device. public/theme.js applies it before the
 * first paint.
 */
import { createStore } from './store.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const theme = createStore<Theme>(read());

/** Applies a theme and remembers it on this device. */
export function setTheme(choice: Theme): void {
  theme.set(choice);
  remember('theme', choice);
  apply();
}

/** Applies changes of the system's theme while "system" is chosen. */
export function followSystemTheme(): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
}

/** Writes to this device's storage; does nothing if storage is forbidden. */
export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Storage is forbidden: the value lasts until the page is closed.
  }
}

/** Reads from this device's storage; undefined if there is no value or storage is forbidden. */
export function recall(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

function read(): Theme {
  const stored = recall('theme');
  return THEMES.find((name) => name === stored) ?? 'system';
}

function apply(): void {
  const choice = theme.get();
  const dark =
    choice === 'dark' || (choice === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
}
