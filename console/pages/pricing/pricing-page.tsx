/** The public price list: models and the price of a request, by group. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useQuery, useSubscription } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Segmented } from '../../components/field.tsx';
import { EmptyFiltered, EmptyFirst, Failure, SkeletonRows } from '../../components/notice.tsx';
import { useTitle } from '../../components/page-title.ts';
import { usePhone } from '../../components/store.ts';
import { useTranslation } from '../../translation.ts';
import { PublicFrame } from '../shell/public-frame.tsx';
import { CatalogChanges, type Model, PricingQuery } from './documents.ts';
import { Freshness } from './freshness.tsx';
import { PriceCards } from './price-cards.tsx';
import { PriceFilters } from './price-filters.tsx';
import { PriceTable } from './price-table.tsx';
import { PRICE_GROUPS, type PriceGroup, type PricingSearch } from './search.ts';
import { matching, ordered } from './tiers.ts';

/** The pricing page. */
export function PricingPage() {
  const { t } = useTranslation();
  const search = useSearch({ from: '/pricing' });
  const [{ data, error, fetching }, again] = useQuery({ query: PricingQuery });
  useSubscription({ query: CatalogChanges });
  useTitle(t('shell.pricing'));
  const models = data?.catalog.nodes;
  return (
    <PublicFrame inviting>
      <div className="mb-7 flex flex-wrap items-end justify-between gap-x-8 gap-y-5">
        <div className="max-w-[640px] flex-1 basis-80">
          <h1 className="text-public">{t('pricing.title')}</h1>
          <p className="mt-1 text-[16px] leading-6 text-ink-2">
            {t('pricing.sentence')}
            {t('state.gap')}
            {t('pricing.sentence2')}
            {t('state.gap')}
            <Link to="/compare" className="text-accent underline touch:py-3">
              {t('shell.compare')}
            </Link>
          </p>
        </div>
        {data && <GroupChoice search={search} ratios={data.groupRatios} />}
      </div>
      {data && data.catalog.nodes.length > 0 && (
        <PriceFilters search={search}>
          <Freshness data={data} />
        </PriceFilters>
      )}
      {models && <PriceList models={models} search={search} />}
      {!models && fetching && <SkeletonRows rows={10} height="h-[50px]" />}
      {!models && error && (
        <Failure
          title={t('pricing.failed')}
          safe={t('pricing.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={again}
        />
      )}
    </PublicFrame>
  );
}

interface GroupChoiceProps {
  search: PricingSearch;
  ratios: readonly { group: PriceGroup; ratio: string }[];
}

function GroupChoice({ search, ratios }: GroupChoiceProps) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/pricing' });
  const phone = usePhone();
  const options = PRICE_GROUPS.map((value) => {
    const ratio = ratios.find(({ group }) => group === value)?.ratio;
    const word = (
      <>
        {t(`groups.${value}`)} {ratio !== undefined && <span className="text-ink-3">×{ratio}</span>}
      </>
    );
    return { value, word };
  });
  return (
    <div className="flex flex-col items-end gap-2 max-sm:w-full max-sm:items-stretch">
      <span className="text-table font-[550]">{t('pricing.groupLabel')}</span>
      <Segmented
        label={t('pricing.groupLabel')}
        value={search.group ?? 'DEFAULT'}
        options={options}
        wide={phone}
        onChange={(group) =>
          void navigate({ search: { ...search, group: group === 'DEFAULT' ? undefined : group } })
        }
      />
    </div>
  );
}

function PriceList({ models, search }: { models: readonly Model[]; search: PricingSearch }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/pricing' });
  const phone = usePhone();
  if (models.length === 0)
    return <EmptyFirst title={t('pricing.emptyTitle')} sentence={t('pricing.emptySentence')} />;
  const fitting = matching(models, search);
  if (fitting.length === 0) {
    return (
      <EmptyFiltered
        sentence={t('pricing.filtered')}
        onClear={() => void navigate({ search: { group: search.group, sort: search.sort } })}
      />
    );
  }
  const tiers = ordered(fitting, search);
  const group = search.group ?? 'DEFAULT';
  return phone ? <PriceCards tiers={tiers} group={group} /> : <PriceTable tiers={tiers} group={group} />;
}
