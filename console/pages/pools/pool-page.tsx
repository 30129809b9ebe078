/** One dedicated pool: load, paid period, keys, receipts. */
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import { useQuery, useSubscription } from 'urql';
import { requestIdOf } from '../../client.ts';
import { CopyField } from '../../components/copy.tsx';
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { Money } from '../../components/money.tsx';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { DetailHead } from '../../components/page-head.tsx';
import { Tag } from '../../components/tag.tsx';
import { Day } from '../../components/time.tsx';
import { loadWords } from '../../i18n.ts';
import { useTranslation } from '../../translation.ts';
import { lastWeek } from '../keys/first.ts';
import { NotFound } from '../shell/not-found.tsx';
import { PoolChanges } from './documents.ts';
import { type PoolDetail, PoolQuery } from './pool-documents.ts';
import { PoolKeys } from './pool-keys.tsx';
import { PeriodLeft, PoolStateChip, RateGauge } from './pool-parts.tsx';
import { AutoRenew, PoolActions } from './pool-tasks.tsx';
import { PeriodTable } from './period-table.tsx';

const EndedBanner = lazy(async () => ({ default: (await import('./ended-banner.tsx')).EndedBanner }));
const PaidReceipt = lazy(async () => {
  const [{ PaidReceipt: Receipt }] = await Promise.all([import('./paid-receipt.tsx'), loadWords(['wallet'])]);
  return { default: Receipt };
});

/** The page. */
export function PoolPage() {
  const { t } = useTranslation();
  const { id } = useParams({ from: '/signed-in/pools/$id' });
  const { paid } = useSearch({ from: '/signed-in/pools/$id' });
  const week = useMemo(() => lastWeek(Date.now()), []);
  const [{ data, error }, again] = useQuery({ query: PoolQuery, variables: { id, week } });
  useSubscription({ query: PoolChanges });
  if (data?.pool && data.viewer) {
    const groups = data.viewer.allowedGroups;
    return (
      <>
        <Head pool={data.pool} />
        {/* The banner of an ended pool loads before the rest appears, so that it pushes nothing down. */}
        <Suspense fallback={<SkeletonRows rows={8} />}>
          <div className="flex flex-col gap-10">
            {data.pool.state === 'EXPIRED' && <EndedBanner pool={data.pool} />}
            <Suspense>{paid === 'now' && <PaidReceipt pool={data.pool} />}</Suspense>
            <Facts pool={data.pool} free={data.poolStorefront.poolRequestsFree} />
            <PoolKeys
              pool={data.pool}
              groups={groups}
              onChanged={() => again({ requestPolicy: 'network-only' })}
            />
            <PeriodTable periods={data.pool.periods} />
          </div>
        </Suspense>
      </>
    );
  }
  if (data) return <NotFound />;
  if (!error) return <SkeletonRows rows={8} />;
  return (
    <Failure
      title={t('pools.failed')}
      safe={t('pools.failedSafe')}
      requestId={requestIdOf(error)}
      onRetry={again}
    />
  );
}

function Head({ pool }: { pool: PoolDetail }) {
  const { t } = useTranslation();
  return (
    <DetailHead
      title={pool.name}
      trail={t('shell.breadcrumb')}
      back={
        <Link to="/pools" activeOptions={{ exact: true }}>
          {t('pools.title')}
        </Link>
      }
      marks={<PoolStateChip state={pool.state} />}
      action={<PoolActions pool={pool} />}
    >
      <CopyField text={pool.baseUrl} label={t('copy.name', { name: pool.baseUrl })} />
    </DetailHead>
  );
}

function Facts({ pool, free }: { pool: PoolDetail; free: boolean }) {
  return (
    <div className="grid grid-cols-2 gap-x-10 gap-y-8 max-lg:grid-cols-1">
      <section className="flex flex-col gap-4">
        <RateGauge pool={pool} />
        <Totals pool={pool} free={free} />
      </section>
      <section className="flex flex-col gap-4">
        <PeriodLeft pool={pool} />
        <AutoRenew pool={pool} />
        <Models pool={pool} />
      </section>
    </div>
  );
}

function Totals({ pool, free }: { pool: PoolDetail; free: boolean }) {
  const { t, i18n } = useTranslation();
  const { totals } = pool.usageSummary;
  const count = new Intl.NumberFormat(i18n.language);
  return (
    <div>
      <LeaderList>
        <LeaderRow name={t('pools.throttledDay')}>{count.format(pool.throttled24h)}</LeaderRow>
        <LeaderRow name={t('pools.requestsWeek')}>{count.format(totals.requests)}</LeaderRow>
        <LeaderRow name={t('pools.failedWeek')}>{count.format(totals.failed)}</LeaderRow>
        <LeaderRow name={t('pools.costWeek')}>
          <Money amount={totals.cost} />
        </LeaderRow>
      </LeaderList>
      <p className="mt-2 text-table text-ink-2">
        {t(free ? 'pools.requestsFree' : 'pools.requestsCharged')}
        {t('state.gap')}
        <Link to="/usage" search={{ pool: pool.id }} className="text-accent underline">
          {t('pools.seeUsage')}
        </Link>
      </p>
    </div>
  );
}

function Models({ pool: { models } }: { pool: PoolDetail }) {
  const { t } = useTranslation();
  return (
    <div>
      <h2 className="mb-2 font-semibold">{t('pools.models')}</h2>
      <ul className="border-t border-line-strong">
        {models.map(({ modelName, frozenAt, currentModel }) => (
          <li
            key={modelName}
            className="flex min-h-[38px] flex-wrap items-center gap-x-3 gap-y-1 border-b border-line py-1.5"
          >
            <code className="font-semibold">{modelName}</code>
            <Tag>{t('pools.fixed')}</Tag>
            <span className="ml-auto text-table text-ink-2">
              {currentModel === null && `${t('pools.leftCatalog')} · `}
              <Day at={frozenAt} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
