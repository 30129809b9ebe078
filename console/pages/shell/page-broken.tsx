/** Shown instead of a page that threw an error. Part of every page, because no more scripts may load then. */
import { lazy, Suspense, useContext } from 'react';
import { Failure } from '../../components/notice.tsx';
import { useTranslation } from '../../translation.ts';
import { FrameContext } from './frame-context.ts';

interface BrokenProps {
  error: unknown;
}

// Has usually loaded before something fails.
const Repair = lazy(() =>
  import('../../live.ts').then(
    (live) => ({ default: live.Repair }),
    () => ({ default: Broken }),
  ),
);

const ALONE = 'mx-auto max-w-[640px] p-8';

/** The error in place of one page, inside the frame of the console. */
export function PageBroken({ error }: BrokenProps) {
  const part = (
    <Suspense>
      <Repair error={error} />
    </Suspense>
  );
  return useContext(FrameContext) ? part : <main className={ALONE}>{part}</main>;
}

/** The error in place of the whole console. */
export function ConsoleBroken() {
  return (
    <main className={ALONE}>
      <Broken />
    </main>
  );
}

/** The error page, with a button that reloads. */
export function Broken() {
  const { t } = useTranslation();
  return (
    <Failure
      title={t('shell.broken')}
      safe={t('shell.brokenSafe')}
      onRetry={() => {
        location.reload();
      }}
    />
  );
}
