/** Asks before a page with a secret that is shown once is left. */
import { useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';

const LeaveDialog = lazy(async () => ({ default: (await import('./leave-dialog.tsx')).LeaveDialog }));

/** The guard. Its dialog appears when the user follows a link; for a reload, the browser asks. */
export function LeaveGuard() {
  const { history } = useRouter();
  const [answer, setAnswer] = useState<(isStaying: boolean) => void>();
  useEffect(
    () =>
      history.block({
        enableBeforeUnload: true,
        blockerFn: ({ currentLocation, nextLocation }) =>
          currentLocation.pathname !== nextLocation.pathname &&
          new Promise<boolean>((resolve) => {
            setAnswer(() => resolve);
          }),
      }),
    [history],
  );
  const decide = (isStaying: boolean) => {
    setAnswer(undefined);
    answer?.(isStaying);
  };
  return <Suspense>{answer && <LeaveDialog decide={decide} />}</Suspense>;
}
