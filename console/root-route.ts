/** The root of the console's addresses, and the loading of words that all of them share. */
import { createRootRoute, Outlet } from '@tanstack/react-router';
import { type Area, loadWords } from './i18n.ts';
import { NotFound } from './pages/shell/not-found.tsx';
import { PageBroken } from './pages/shell/page-broken.tsx';

/** Every route descends from it. */
export const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: PageBroken,
});

/** A loader that waits for the words of these areas. */
export const words =
  (...areas: Area[]) =>
  () =>
    loadWords(areas);

/**
 * A loader that does what another does, and begins to load what the page draws a little later: the page does
 * not wait for it, and its HTML names it.
 */
export const ahead = (loader: () => Promise<void>, load: () => Promise<object>) => (): Promise<void> => {
  // Whoever draws it asks again, and tells when it cannot be had.
  load().catch(() => undefined);
  return loader();
};
