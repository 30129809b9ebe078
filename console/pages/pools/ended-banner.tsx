/** Banner of a pool whose period is over: whether it can still be renewed. */
import { CircleAlert } from 'lucide-react';
import { Banner } from '../../components/notice.tsx';
import { dateText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import type { Pool } from './documents.ts';
import { keptUntil } from './pool-state.ts';

/** The banner; nothing for a running or cancelled pool. */
export function EndedBanner({ pool }: { pool: Pool }) {
  const { t, i18n } = useTranslation();
  if (pool.state !== 'EXPIRED') return null;
  const kept = keptUntil(pool);
  const date = dateText(new Date(kept), i18n.language);
  return (
    <div className="px-5 pb-4 only:p-0">
      <Banner tone="bad" icon={<CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" />}>
        {kept > Date.now() ? t('pools.expired', { date }) : t('pools.tooLateToRenew')}
      </Banner>
    </div>
  );
}
