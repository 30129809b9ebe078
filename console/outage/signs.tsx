/** Tells that the console waits for the service: a bar at the top of the window, and a notice with Retry. */
import { useRouterState } from '@tanstack/react-router';
import { CloudOff, RotateCw } from 'lucide-react';
import { Button } from '../components/button.tsx';
import { Banner } from '../components/notice.tsx';
import { useStore } from '../components/store.ts';
import { useSession } from '../session.tsx';
import { useTranslation } from '../translation.ts';

/** A moving line while a page or its data loads. It appears after 300 ms. */
export function PendingBar() {
  const loading = useRouterState({ select: ({ isLoading }) => isLoading });
  const asking = useStore(useSession().reach.pending);
  if (!loading && !asking) return null;
  return (
    <div
      className="late fixed inset-x-0 top-0 z-40 h-0.5 overflow-hidden"
      data-part="pending"
      aria-hidden="true"
    >
      <div className="pending-line h-full w-2/5 bg-accent" />
    </div>
  );
}

/** A notice while the service is slow or does not answer. */
export function ReachNotice() {
  const { t } = useTranslation();
  const { reach } = useSession();
  const state = useStore(reach.state);
  const retry = (
    <Button icon={<RotateCw size={16} strokeWidth={1.75} />} onClick={() => reach.watcher?.retry()}>
      {t('state.retry')}
    </Button>
  );
  return (
    <div role="status" className="contents">
      {state !== 'answering' && (
        <Banner
          tone="warn"
          icon={<CloudOff size={16} strokeWidth={1.75} aria-hidden="true" />}
          action={state === 'silent' ? retry : undefined}
        >
          {t(state === 'silent' ? 'shell.unavailable' : 'shell.slow')}
        </Banner>
      )}
    </div>
  );
}
