/** Banners of dedicated pools that end soon, on every page. */
import { Hourglass } from 'lucide-react';
import { Suspense, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Banner } from '../../components/notice.tsx';
import { stampText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { RenewDialog } from '../pools/renew-lazy.tsx';
import type { Viewer } from './viewer.ts';

type Ending = Viewer['pools']['nodes'][number];

/**
 * One banner for each pool without automatic renewal. The pools are part of the viewer query, so that the
 * banners appear with the page and do not move it later.
 */
export function PoolEndings({ pools }: { pools: readonly Ending[] }) {
  // A renewed pool stays in the cached list, with its new state.
  const ending = pools.filter(({ state, autoRenew }) => state === 'EXPIRING' && !autoRenew);
  return ending.map((pool) => <EndingBanner key={pool.id} pool={pool} />);
}

function EndingBanner({ pool }: { pool: Ending }) {
  const { t, i18n } = useTranslation();
  const [renewing, setRenewing] = useState(false);
  const time = stampText(new Date(pool.endsAt), i18n.language);
  return (
    <Banner
      tone="warn"
      icon={<Hourglass size={16} strokeWidth={1.75} aria-hidden="true" />}
      action={
        <Button
          size="small"
          aria-label={t('shell.renewPool', { name: pool.name })}
          onClick={() => setRenewing(true)}
        >
          {t('shell.renew')}
        </Button>
      }
    >
      <strong className="font-semibold">{t('shell.poolEnds', { name: pool.name, time })}</strong>
      {t('state.gap')}
      <span className="max-sm:hidden">{t('shell.poolEndsThen')}</span>
      <Suspense>{renewing && <RenewDialog pool={pool} onClose={() => setRenewing(false)} />}</Suspense>
    </Banner>
  );
}
