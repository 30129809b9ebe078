/** The storefront of dedicated pools: its state, its message, and its terms. */
import { lazy, Suspense } from 'react';
import { useQuery, useSubscription } from 'urql';
import { Button } from '../../../components/button.tsx';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { Money } from '../../../components/money.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { useTranslation } from '../../../translation.ts';
import { StorefrontChanges } from '../../pools/storefront-documents.ts';
import { OperatorMessage, StorefrontChip } from '../../pools/storefront-notice.tsx';
import {
  type AdminStorefront,
  AdminStorefrontQuery,
  type OfferedModel,
  type StorefrontTask,
} from './documents.ts';
import { Region } from '../region.tsx';
import { useTask } from '../use-task.ts';

const loadDialogs = () => import('./storefront-dialogs.tsx');
const StorefrontDialogs = lazy(async () => ({ default: (await loadDialogs()).StorefrontDialogs }));

/** The page. */
export function StorefrontPage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: AdminStorefrontQuery });
  useSubscription({ query: StorefrontChanges });
  const { task, setTask, close } = useTask<StorefrontTask>(again);
  const storefront = data?.poolStorefront;
  return (
    <>
      <PageHead
        title={t('storefront.title')}
        sentence={t('storefront.sentence')}
        action={storefront && <StateButton state={storefront.state} onClick={() => setTask('state')} />}
      />
      <Region data={data} error={error} onRetry={again}>
        {({ poolStorefront, catalog }) => (
          <Storefront storefront={poolStorefront} models={catalog.nodes} onTask={setTask} />
        )}
      </Region>
      <Suspense>
        {task && storefront && (
          <StorefrontDialogs
            task={task}
            storefront={storefront}
            models={data.catalog.nodes}
            onClose={close}
          />
        )}
      </Suspense>
    </>
  );
}

/** Opens or closes the storefront. */
function StateButton({ state, onClick }: { state: AdminStorefront['state']; onClick: () => void }) {
  const { t } = useTranslation();
  const open = state === 'OPEN';
  return (
    <Button variant={open ? 'destructive' : 'primary'} onClick={onClick}>
      {t(open ? 'storefront.close' : 'storefront.open')}
    </Button>
  );
}

interface StorefrontProps {
  storefront: AdminStorefront;
  models: readonly OfferedModel[];
  onTask: (task: StorefrontTask) => void;
}

function Storefront({ storefront, models, onTask }: StorefrontProps) {
  const { t } = useTranslation();
  const { state, openQuotes, pricesConfirmed } = storefront;
  return (
    <div className="flex max-w-[720px] flex-col gap-8">
      <section>
        <div className="mb-4 flex flex-wrap items-center gap-3">
          <StorefrontChip state={state} />
          <span className="text-ink-2">{t('storefront.openQuotes', { count: openQuotes ?? 0 })}</span>
        </div>
        <OperatorMessage storefront={storefront} />
      </section>
      <section>
        <div className="mb-2 flex flex-wrap items-center justify-between gap-3">
          <h2 className="text-section">{t('storefront.terms')}</h2>
          <Button onClick={() => onTask('terms')}>{t('storefront.edit')}</Button>
        </div>
        <Terms storefront={storefront} all={models.length} />
        {!pricesConfirmed && <p className="mt-3 text-ink-2">{t('storefront.unconfirmed')}</p>}
      </section>
    </div>
  );
}

function Terms({ storefront, all }: { storefront: AdminStorefront; all: number }) {
  const { t } = useTranslation();
  const { offeredModels, includedModels, periodDays } = storefront;
  return (
    <LeaderList>
      <LeaderRow name={t('storefront.basePrice', { count: includedModels, days: periodDays })}>
        <Money amount={storefront.basePrice} />
      </LeaderRow>
      <LeaderRow name={t('storefront.extraPrice')}>
        <Money amount={storefront.extraModelPrice} />
      </LeaderRow>
      <LeaderRow name={t('storefront.gift')}>
        <Money amount={storefront.giftCredit} />
      </LeaderRow>
      <LeaderRow name={t('pools.cap')}>{t('pools.capOf', { count: storefront.rpmCap })}</LeaderRow>
      <LeaderRow name={t('storefront.requests')}>
        {t(storefront.poolRequestsFree ? 'storefront.free' : 'storefront.charged')}
      </LeaderRow>
      <LeaderRow name={t('storefront.offered')}>
        {t('storefront.offeredOf', { count: offeredModels.length, all })}
      </LeaderRow>
    </LeaderList>
  );
}
