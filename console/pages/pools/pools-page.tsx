/** Dedicated pools: the storefront's state, the account's pools, and the purchase form. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type CombinedError, useQuery, useSubscription } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { useTitle } from '../../components/page-title.ts';
import { Pager } from '../../components/pager.tsx';
import { pageVariables } from '../../components/search-parameters.ts';
import { useTranslation } from '../../translation.ts';
import { BuyPool } from './buy-pool.tsx';
import { type Pool, PoolChanges, PoolsQuery } from './documents.ts';
import { type Storefront, StorefrontChanges } from './storefront-documents.ts';
import { PoolCard } from './pool-card.tsx';
import { OperatorMessage, StorefrontChip } from './storefront-notice.tsx';

const POOLS_PER_PAGE = 20;

/** The page. */
export function PoolsPage() {
  const { t } = useTranslation();
  const search = useSearch({ from: '/signed-in/pools' });
  const navigate = useNavigate({ from: '/pools' });
  const variables = { first: POOLS_PER_PAGE, ...pageVariables(search) };
  const [{ data, error }, again] = useQuery({ query: PoolsQuery, variables });
  // The events update the cache, and with it the page.
  useSubscription({ query: StorefrontChanges });
  useSubscription({ query: PoolChanges });
  const pools = data?.viewer?.pools;
  if (!data || !pools) return <NotLoaded error={error} onRetry={again} />;
  const storefront = data.poolStorefront;
  return (
    <>
      <Head storefront={storefront} />
      <OperatorMessage storefront={storefront} />
      {pools.nodes.length > 0 && <OwnPools pools={pools.nodes} />}
      <Pager
        page={search}
        pageInfo={pools.pageInfo}
        onGo={(page) => void navigate({ search: { ...search, ...page } })}
      />
      <section className="mt-10">
        <h2 className="mb-4 text-section">{t('purchase.buyTitle')}</h2>
        <BuyPool
          storefront={storefront}
          baseHost={new URL(data.baseAddress).host}
          picked={search.models ?? []}
          onPick={(models) =>
            void navigate({ search: { ...search, models }, replace: true, resetScroll: false })
          }
          onRefused={() => again({ requestPolicy: 'network-only' })}
        />
      </section>
    </>
  );
}

function Head({ storefront: { state, periodDays, poolRequestsFree } }: { storefront: Storefront }) {
  const { t } = useTranslation();
  useTitle(t('pools.title'));
  return (
    <header className="mb-6">
      <div className="flex flex-wrap items-center gap-3">
        <h1 className="text-title max-sm:sr-only">{t('pools.title')}</h1>
        <StorefrontChip state={state} />
      </div>
      <p className="mt-1 text-ink-2">
        {t(poolRequestsFree ? 'pools.sentence' : 'pools.sentenceCharged', { count: periodDays })}
      </p>
    </header>
  );
}

function OwnPools({ pools }: { pools: readonly Pool[] }) {
  const { t } = useTranslation();
  return (
    <section className="mt-6">
      <h2 className="sr-only">{t('pools.own')}</h2>
      <ul aria-label={t('pools.own')} className="flex flex-col gap-4">
        {pools.map((pool) => (
          <PoolCard key={pool.id} pool={pool} />
        ))}
      </ul>
    </section>
  );
}

interface NotLoadedProps {
  error: CombinedError | undefined;
  onRetry: () => void;
}

function NotLoaded({ error, onRetry }: NotLoadedProps) {
  const { t } = useTranslation();
  useTitle(t('pools.title'));
  return (
    <>
      <h1 className="mb-6 text-title max-sm:sr-only">{t('pools.title')}</h1>
      {error ? (
        <Failure
          title={t('pools.failed')}
          safe={t('pools.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={onRetry}
        />
      ) : (
        <SkeletonRows rows={8} />
      )}
    </>
  );
}
