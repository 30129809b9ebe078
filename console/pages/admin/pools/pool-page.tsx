/** One dedicated pool for administrators: owner, rate, periods. */
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useQuery } from 'urql';
import { Count } from '../../../components/count.tsx';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { DetailHead } from '../../../components/page-head.tsx';
import { useTranslation } from '../../../translation.ts';
import { FrozenModels, PeriodLeft, PoolStateChip, RateGauge } from '../../pools/pool-parts.tsx';
import { PeriodTable } from '../../pools/period-table.tsx';
import { NotFound } from '../../shell/not-found.tsx';
import { type AdminPoolDetail, AdminPoolQuery } from './documents.ts';
import { PoolMenu, type PoolTask } from './pool-menu.tsx';
import { Region } from '../region.tsx';
import { useTask } from '../use-task.ts';

const PoolDialogs = lazy(async () => ({ default: (await import('./pool-dialogs.tsx')).PoolDialogs }));

/** The page. */
export function PoolPage() {
  const { id } = useParams({ from: '/admin/pools/$id' });
  const [{ data, error }, again] = useQuery({ query: AdminPoolQuery, variables: { id } });
  const { task, setTask, close } = useTask<PoolTask>(again);
  return (
    <>
      <Region data={data} error={error} onRetry={again}>
        {({ pool }) => (pool ? <Detail pool={pool} onTask={setTask} /> : <NotFound />)}
      </Region>
      <Suspense>{task && <PoolDialogs task={task} onClose={close} />}</Suspense>
    </>
  );
}

interface DetailProps {
  pool: AdminPoolDetail;
  onTask: (task: PoolTask) => void;
}

function Detail({ pool, onTask }: DetailProps) {
  const { t } = useTranslation();
  return (
    <>
      <DetailHead
        title={pool.name}
        trail={t('shell.breadcrumb')}
        back={
          <Link to="/admin/pools" activeOptions={{ exact: true }}>
            {t('storefront.pools')}
          </Link>
        }
        marks={<PoolStateChip state={pool.state} />}
        action={<PoolMenu pool={pool} onTask={onTask} />}
      >
        <Address url={pool.baseUrl} />
      </DetailHead>
      <div className="grid grid-cols-2 gap-x-10 gap-y-8 max-lg:grid-cols-1">
        <RateGauge pool={pool} />
        <PeriodLeft pool={pool} />
        <Facts pool={pool} />
      </div>
      <div className="mt-10">
        <PeriodTable periods={pool.periods} />
      </div>
    </>
  );
}

function Facts({ pool }: Pick<DetailProps, 'pool'>) {
  const { t } = useTranslation();
  return (
    <div className="col-span-full max-w-[720px]">
      <LeaderList>
        <LeaderRow name={t('storefront.owner')}>
          {pool.owner && (
            <Link to="/admin/users/$id" params={{ id: pool.owner.id }} className="text-accent underline">
              {pool.owner.email}
            </Link>
          )}
        </LeaderRow>
        <LeaderRow name={t('pools.keys')}>
          <Count of={pool.allKeys.totalCount} />
        </LeaderRow>
        <LeaderRow name={t('pools.throttledDay')}>
          <Count of={pool.throttled24h} />
        </LeaderRow>
        <LeaderRow name={t('pools.autoRenew')}>{t(pool.autoRenew ? 'pools.on' : 'pools.off')}</LeaderRow>
      </LeaderList>
      <div className="mt-3 text-table text-ink-2">
        <FrozenModels models={pool.models} />
      </div>
    </div>
  );
}

/** An address. Lines break before the host first, and inside it only if necessary. */
function Address({ url }: { url: string }) {
  const [scheme, host] = url.split(/(?<=\/\/)/);
  return (
    <code className="[overflow-wrap:anywhere]">
      {scheme}
      <wbr />
      {host}
    </code>
  );
}
