/** One pool in the list: load, paid period, and renewal. */
import { Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { CopyIcon } from '../../components/copy.tsx';
import { useTranslation } from '../../translation.ts';
import type { Pool } from './documents.ts';
import { EndedBanner } from './ended-banner.tsx';
import { FrozenModels, PeriodLeft, PoolStateChip, RateGauge } from './pool-parts.tsx';
import { isRenewable } from './pool-state.ts';
import { RenewDialog } from './renew-lazy.tsx';

/** The card. */
export function PoolCard({ pool }: { pool: Pool }) {
  const { t } = useTranslation();
  const [renewing, setRenewing] = useState(false);
  const renewable = isRenewable(pool, Date.now());
  return (
    <li className="rounded-card border border-line bg-raise">
      <div className={BODY}>
        <Head pool={pool} />
        <RateGauge pool={pool} />
        <PeriodLeft pool={pool} />
        {renewable && (
          <Button
            className="justify-self-end max-sm:w-full"
            aria-label={t('pools.renewOf', { name: pool.name })}
            onClick={() => {
              setRenewing(true);
            }}
          >
            {t('pools.renew')}
          </Button>
        )}
      </div>
      <div className={FOOT}>
        <FrozenModels models={pool.models} />
        <span className="ml-auto flex flex-wrap gap-x-6 gap-y-1 max-lg:ml-0">
          <span>{t('pools.keyCount', { count: pool.allKeys.totalCount })}</span>
          <span>{t('pools.throttled', { count: pool.throttled24h })}</span>
          <span>{t(pool.autoRenew ? 'pools.autoOn' : 'pools.autoOff')}</span>
          <Link to="/pools/$id" params={{ id: pool.id }} className="font-[550] text-accent">
            {t('pools.open')}
            <span className="sr-only"> {pool.name}</span>
          </Link>
        </span>
      </div>
      <EndedBanner pool={pool} />
      <Suspense>{renewing && <RenewDialog pool={pool} onClose={() => setRenewing(false)} />}</Suspense>
    </li>
  );
}

const BODY =
  'grid grid-cols-[minmax(0,1.1fr)_minmax(0,1fr)_minmax(0,1fr)_auto] items-center gap-x-8 gap-y-5 p-5 ' +
  'max-xl:grid-cols-2 max-sm:grid-cols-1';
const FOOT =
  'flex flex-wrap items-start gap-x-6 gap-y-2 border-t border-line px-5 py-2.5 text-table text-ink-2';

function Head({ pool: { id, name, baseUrl, state } }: { pool: Pool }) {
  const { t } = useTranslation();
  return (
    <div className="min-w-0">
      <h3 className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Link to="/pools/$id" params={{ id }} className="min-w-0 text-section break-words">
          {name}
        </Link>
        <PoolStateChip state={state} />
      </h3>
      <div className="mt-1 flex items-center gap-1.5 text-ink-2">
        <code className="min-w-0 break-all">{baseUrl}</code>
        <CopyIcon text={baseUrl} label={t('copy.name', { name: baseUrl })} />
      </div>
    </div>
  );
}
