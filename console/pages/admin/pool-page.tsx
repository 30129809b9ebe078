/** One dedicated pool as administrators see it: its owner, its rate, its periods. */
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useQuery } from 'urql';
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { DetailHead } from '../../components/page-head.tsx';
import { useTranslation } from '../../translation.ts';
import { FrozenModels, PeriodLeft, PoolStateChip, RateGauge } from '../pools/pool-parts.tsx';
import { PeriodTable } from '../pools/period-table.tsx';
import { NotFound } from '../shell/not-found.tsx';
import { type AdminPoolDetail, AdminPoolQuery } from './pool-documents.ts';
import { PoolMenu, type PoolTask } from './pool-menu.tsx';
import { Region } from './region.tsx';

const PoolDialogs = lazy(async () => ({ default: (await import('./pool-dialogs.tsx')).PoolDialogs }));

/** The page. */
export function PoolPage() {
  const { id } = useParams({ from: '/admin/pools/$id' });
  const [{ data, error }, again] = useQuery({ query: AdminPoolQuery, variables: { id } });
  const [task, setTask] = useState<PoolTask>();
  return (
    <>
      <Region data={data} error={error} onRetry={again}>
        {({ pool }) => (pool ? <Detail pool={pool} onTask={setTask} /> : <NotFound />)}
      </Region>
      <Suspense>
        {task && (
          <PoolDialogs
            task={task}
            onClose={() => {
              setTask(undefined);
              again({ requestPolicy: 'network-only' });
            }}
          />
        )}
      </Suspense>
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
        trail={t('pools.trail')}
        back={<Link to="/admin/pools">{t('storefront.pools')}</Link>}
        marks={<PoolStateChip state={pool.state} />}
        action={<PoolMenu pool={pool} onTask={onTask} />}
      >
        <Address of={pool.baseUrl} />
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
        <LeaderRow name={t('pools.keys')}>{pool.allKeys.totalCount}</LeaderRow>
        <LeaderRow name={t('pools.throttledDay')}>{pool.throttled24h}</LeaderRow>
        <LeaderRow name={t('pools.autoRenew')}>{t(pool.autoRenew ? 'pools.on' : 'pools.off')}</LeaderRow>
      </LeaderList>
      <div className="mt-3 text-table text-ink-2">
        <FrozenModels models={pool.models} />
      </div>
    </div>
  );
}

/** Breaks before the host first, and inside it only where nothing else helps. */
function Address({ of }: { of: string }) {
  const [scheme, place] = of.split(/(?<=\/\/)/);
  return (
    <code className="[overflow-wrap:anywhere]">
      {scheme}
      <wbr />
      {place}
    </code>
  );
}
