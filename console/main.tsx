/** Entry point of the console. */
import './styles.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { followSystemTheme } from './components/theme.ts';
import { startI18n } from './i18n.ts';
import { isPublic } from './public-paths.ts';
import { router } from './routes.tsx';
import { SessionProvider } from './session.tsx';

// When a session ends, public pages stay; all others go to sign-in and return afterwards.
function onSignedOut(): void {
  const { pathname, href } = router.state.location;
  if (!isPublic(pathname)) void router.navigate({ to: '/sign-in', search: { next: href } });
}

const place = document.getElementById('root');
if (!place) throw new Error('index.html has no #root');

followSystemTheme();
await startI18n();
createRoot(place).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <SessionProvider onSignedOut={onSignedOut}>
        <RouterProvider router={router} />
      </SessionProvider>
    </CSPProvider>
  </StrictMode>,
);
