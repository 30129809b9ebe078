/** The top-ups of all users, and the deposits among them. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { EmptyFiltered, EmptyFirst } from '../../../components/notice.tsx';
import { FIRST_PAGE, pageVariables } from '../../../components/search-parameters.ts';
import { orderBy } from '../../../components/sort-order.ts';
import { useTranslation } from '../../../translation.ts';
import { PagedList } from '../paged-list.tsx';
import { TopUpsQuery } from './documents.ts';
import { knownSearch, type PaymentsSearch } from './filters.ts';
import { PaymentsFrame } from './payments-frame.tsx';
import { TopUpFilters } from './top-up-filters.tsx';
import { TopUpRows } from './top-up-rows.tsx';

const TOP_UPS_PER_PAGE = 50;

/** All top-ups. */
export function TopUpsPage() {
  const search = knownSearch(useSearch({ from: '/admin/payments' }));
  const navigate = useNavigate({ from: '/admin/payments' });
  return <TopUpList search={search} onSearch={(next) => void navigate({ search: next })} deposits={false} />;
}

/** Top-ups by deposit on a blockchain. */
export function DepositsPage() {
  const search = knownSearch(useSearch({ from: '/admin/payments/deposits' }));
  const navigate = useNavigate({ from: '/admin/payments/deposits' });
  return <TopUpList search={search} onSearch={(next) => void navigate({ search: next })} deposits />;
}

interface ListProps {
  search: PaymentsSearch;
  onSearch: (search: PaymentsSearch) => void;
  deposits: boolean;
}

function TopUpList({ search, onSearch, deposits }: ListProps) {
  const [{ data, error }, again] = useQuery({
    query: TopUpsQuery,
    variables: variablesOf(deposits ? { ...search, method: 'CRYPTO' } : search),
  });
  return (
    <PaymentsFrame>
      <TopUpFilters search={search} onSearch={onSearch} deposits={deposits} />
      <PagedList
        connection={data?.admin?.topUps}
        error={error}
        onRetry={again}
        page={search}
        onGo={(page) => onSearch({ ...search, ...page })}
        empty={<NoTopUps search={search} onSearch={onSearch} deposits={deposits} />}
      >
        {(topUps) => (
          <TopUpRows
            topUps={topUps}
            deposits={deposits}
            sorting={{ value: search.sort, onSort: (sort) => onSearch({ ...search, ...FIRST_PAGE, sort }) }}
          />
        )}
      </PagedList>
    </PaymentsFrame>
  );
}

function NoTopUps({ search, onSearch, deposits }: ListProps) {
  const { t } = useTranslation();
  const { sort: _order, ...conditions } = search;
  if (Object.values(conditions).some((value) => value !== undefined))
    return <EmptyFiltered sentence={t('payments.noneFits')} onClear={() => onSearch({})} />;
  if (deposits)
    return <EmptyFirst title={t('payments.noDeposits')} sentence={t('payments.noDepositsSentence')} />;
  return <EmptyFirst title={t('payments.none')} sentence={t('payments.noneSentence')} />;
}

/** Fields of the service that sort by a column. */
const ORDERS = { time: 'CREATED_AT', amount: 'AMOUNT' } as const;

function variablesOf({ state, method, user, stuck, sort, ...page }: PaymentsSearch) {
  return {
    first: TOP_UPS_PER_PAGE,
    ...pageVariables(page),
    orderBy: orderBy(sort, ORDERS),
    method: method ?? null,
    states: state ? [state] : null,
    stuck: stuck ?? null,
    userId: user ?? null,
  };
}
