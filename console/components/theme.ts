/**
 * The theme of the console: light, dark, or that of the operating system. The browser's storage keeps the
 * choice. public/theme.js applies the stored theme before the first paint.
 */
import { recall, remember } from './device-storage.ts';
import { createStore } from './store.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const theme = createStore<Theme>(read());

/** Applies a theme and stores the choice on this device. */
export function setTheme(choice: Theme): void {
  theme.set(choice);
  remember('theme', choice);
  apply();
}

/** Applies changes of the system's theme while "system" is chosen. */
export function followSystemTheme(): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
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
