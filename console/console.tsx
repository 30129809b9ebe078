/** The console around its pages. Browsers and the build render it. */
import { CSPProvider } from '@base-ui/react/csp-provider';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { isPublic } from './public-paths.ts';
import type { consoleRouter } from './routes.tsx';
import { SessionProvider } from './session.tsx';

/** The console, at the address of the router. */
export function Console({ router }: { router: ReturnType<typeof consoleRouter> }) {
  // When a session ends, public pages stay; all others go to sign-in and return afterwards.
  const onSignedOut = () => {
    const { pathname, href } = router.state.location;
    if (!isPublic(pathname)) void router.navigate({ to: '/sign-in', search: { next: href } });
  };
  return (
    <StrictMode>
      <CSPProvider disableStyleElements>
        <SessionProvider onSignedOut={onSignedOut}>
          <RouterProvider router={router} />
        </SessionProvider>
      </CSPProvider>
    </StrictMode>
  );
}
