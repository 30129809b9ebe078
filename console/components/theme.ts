/**
 * Light, dark, or what the system says; kept on this device. public/theme.js applies it before the first
 * paint.
 */
import { createStore } from './store.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const theme = createStore<Theme>(read());

/** Applies a theme at once and remembers it. */
export function setTheme(choice: Theme): void {
  theme.set(choice);
  remember('theme', choice);
  apply();
}

/** Keeps following the system while "system" is chosen. */
export function followSystemTheme(): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
}

/** Writes to this device's storage where that is allowed. */
export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Storage is forbidden: the choice lasts until the page is closed.
  }
}

/** Reads this device's storage where that is allowed. */
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
