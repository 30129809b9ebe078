/** The error in place of a page whose script did not arrive. It reloads the page when the service is back. */
import { useEffect } from 'react';
import { Failure } from '../components/notice.tsx';
import { MissingPart } from '../parts.ts';
import { Broken } from '../pages/shell/page-broken.tsx';
import { useTranslation } from '../translation.ts';

/** Messages of browsers about a failed import of a script by a part of a page. */
const IMPORT_FAILED = /dynamically imported module|importing a module script|preload css/i;

/** The error page. Only the error of a missing script is repaired. */
export function Repair({ error }: { error: unknown }) {
  const missing =
    error instanceof MissingPart || (error instanceof Error && IMPORT_FAILED.test(error.message));
  return missing ? <Missing /> : <Broken />;
}

function Missing() {
  const { t } = useTranslation();
  useEffect(() => reloadWhenBack(), []);
  return (
    <>
      <h1 className="sr-only">{t('shell.broken')}</h1>
      <Failure
        title={t('shell.unavailable')}
        safe={t('shell.unavailableSafe')}
        onRetry={() => void reloadIfBack()}
      />
    </>
  );
}

const RETRY_MS = 2_000;
const PROBE_MS = 5_000;
/** A page that was just reloaded waits, so that a missing script causes no fast loop of reloads. */
const RELOADED_MS = 15_000;

/** Reloads the page as soon as the service delivers it. Returns a function that stops this. */
function reloadWhenBack(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let left = false;
  const probe = async (): Promise<void> => {
    await reloadIfBack();
    if (!left) timer = setTimeout(() => void probe(), RETRY_MS);
  };
  timer = setTimeout(() => void probe(), wasJustReloaded() ? RELOADED_MS : 0);
  return () => {
    left = true;
    clearTimeout(timer);
  };
}

// Without a check, a reload would replace the console with the error page of the browser.
async function reloadIfBack(): Promise<void> {
  const asked = { cache: 'no-store', signal: AbortSignal.timeout(PROBE_MS) } as const;
  const back = await fetch(location.pathname, asked).then(
    ({ ok }) => ok,
    () => false,
  );
  if (back) location.reload();
}

function wasJustReloaded(): boolean {
  const [entry] = performance.getEntriesByType('navigation');
  const reloaded = entry instanceof PerformanceNavigationTiming && entry.type === 'reload';
  return reloaded && performance.now() < RELOADED_MS;
}
