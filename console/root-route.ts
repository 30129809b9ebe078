/** The root route, and loaders that all routes share. */
import { createRootRoute, Outlet } from '@tanstack/react-router';
import { type Area, loadWords } from './i18n.ts';
import { NotFound } from './pages/shell/not-found.tsx';
import { ConsoleBroken } from './pages/shell/page-broken.tsx';
import { arrive } from './parts.ts';

/** The parent of all routes. */
export const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: ConsoleBroken,
});

/** Creates a route loader that loads the texts of these areas. */
export const words =
  (...areas: Area[]) =>
  () =>
    arrive(loadWords(areas));

/**
 * Creates a route loader that also starts to load a module that the page needs a little later. The page does
 * not wait for the module, and the HTML preloads it.
 */
export const preloading = (loader: () => Promise<void>, load: () => Promise<object>) => (): Promise<void> => {
  // The component that needs the module imports it again and handles the error.
  load().catch(() => undefined);
  return loader();
};
