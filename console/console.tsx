/** The console around its pages. Browsers and the build render it. */
import { CSPProvider } from '@base-ui/react/csp-provider';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode, useEffect, useState } from 'react';
import { ContinuedContext } from './components/continued.ts';
import { isPublic } from './public-paths.ts';
import type { consoleRouter } from './routes.tsx';
import { SessionProvider } from './session.tsx';

interface ConsoleProps {
  router: ReturnType<typeof consoleRouter>;
  /** Whether the first rendering is that of the build. */
  fromHtml?: boolean;
}

/** The console, at the address of the router. */
export function Console({ router, fromHtml = false }: ConsoleProps) {
  const [continued, setContinued] = useState(!fromHtml);
  // The change of this context lets React continue all parts of the HTML at once. Otherwise it would do so
  // when it is idle, and updates of effects would be idle, too: a query that is sent again before them loops.
  useEffect(() => setContinued(true), []);
  // When a session ends, public pages stay; all others go to sign-in and return afterwards.
  const onSignedOut = () => {
    const { pathname, href } = router.state.location;
    if (!isPublic(pathname)) void router.navigate({ to: '/sign-in', search: { next: href } });
  };
  return (
    <StrictMode>
      <CSPProvider disableStyleElements>
        <ContinuedContext value={continued}>
          <SessionProvider onSignedOut={onSignedOut}>
            <RouterProvider router={router} />
          </SessionProvider>
        </ContinuedContext>
      </CSPProvider>
    </StrictMode>
  );
}
