/** Stands where nothing is: the page that says so is loaded when it is needed. */
import { lazy, Suspense } from 'react';

const Page = lazy(async () => ({ default: (await import('./fallbacks.tsx')).NotFound }));

/** The page for an address that leads nowhere. */
export function NotFound() {
  return (
    <Suspense>
      <Page />
    </Suspense>
  );
}
