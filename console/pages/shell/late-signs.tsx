/** Notices of the frames while the service does not answer. Loads after the page, with the live updates. */
import { lazy, Suspense } from 'react';
import { loadLive } from '../../client.ts';
import { useContinued } from '../../components/continued.ts';

type Live = Awaited<ReturnType<typeof loadLive>>;

const Nothing = () => null;
const part = (name: 'PendingBar' | 'ReachNotice') => {
  const Part = lazy(async () => {
    const live: Live | undefined = await loadLive().catch(() => undefined);
    return { default: live?.[name] ?? Nothing };
  });
  // The HTML of a page has no notices.
  return function LatePart() {
    return (
      useContinued() && (
        <Suspense>
          <Part />
        </Suspense>
      )
    );
  };
};

export const PendingBar = part('PendingBar');
export const ReachNotice = part('ReachNotice');
