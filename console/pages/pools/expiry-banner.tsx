/** What happens at the end of a pool's period, said while there is still time, and after. */
import type { TFunction } from 'i18next';
import { CircleAlert, Hourglass } from 'lucide-react';
import { Banner } from '../../components/notice.tsx';
import { dateText, stampText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import type { Pool } from './documents.ts';
import { keptUntil } from './pool-state.ts';

/** The banner; nothing while the end is far or the pool renews itself. */
export function ExpiryBanner({ pool }: { pool: Pool }) {
  const { t, i18n } = useTranslation();
  const words = expiryWords(pool, t, i18n.language);
  if (words === undefined) return null;
  const ending = pool.state === 'EXPIRING';
  const Icon = ending ? Hourglass : CircleAlert;
  return (
    <div className="px-5 pb-4 only:p-0">
      <Banner tone={ending ? 'warn' : 'bad'} icon={<Icon size={16} strokeWidth={1.75} aria-hidden="true" />}>
        {words}
      </Banner>
    </div>
  );
}

function expiryWords(pool: Pool, t: TFunction, language: string): string | undefined {
  if (pool.state === 'EXPIRING' && !pool.autoRenew)
    return t('pools.expiring', { time: stampText(new Date(pool.endsAt), language) });
  if (pool.state !== 'EXPIRED') return undefined;
  const kept = keptUntil(pool);
  if (kept <= Date.now()) return t('pools.gone');
  return t('pools.expired', { date: dateText(new Date(kept), language) });
}
