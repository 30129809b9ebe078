/** Loads the page for unknown addresses when it is needed. */
import { lazy, Suspense } from 'react';

const Page = lazy(async () => ({ default: (await import('./fallbacks.tsx')).NotFound }));

/** The page for unknown addresses. */
export function NotFound() {
  return (
    <Suspense>
      <Page />
    </Suspense>
  );
}
