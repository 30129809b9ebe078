/** The usage page: charts, and the log of requests. New rows wait until the user shows them. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { ArrowUp } from 'lucide-react';
import { lazy, Suspense, useDeferredValue, useMemo } from 'react';
import { useClient, useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Button, buttonClass } from '../../components/button.tsx';
import { EmptyFiltered, EmptyFirst, Failure, SkeletonRows } from '../../components/notice.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pager } from '../../components/pager.tsx';
import { FIRST_PAGE, pageVariables } from '../../components/search-parameters.ts';
import { orderBy } from '../../components/sort-order.ts';
import type { ResultOf } from '../../graphql.ts';
import { loadWords } from '../../i18n.ts';
import { useTranslation } from '../../translation.ts';
import type { PageFields } from '../answer-fields.ts';
import { useBarText } from './bar-text.ts';
import { conditionsOf, type UsageConditions } from './conditions.ts';
import { UsageExport, UsageNamesQuery, UsageQuery, type UsageRow } from './documents.ts';
import { type ExportFormat, ExportMenu, FRESH } from '../export-menu.tsx';
import { useMeanwhile } from '../shell/frame-context.ts';
import { ROWS_PER_PAGE } from './first.ts';
import type { UsageSearch } from './search.ts';
import { UsageCharts } from './usage-charts.tsx';
import { UsageFilters } from './usage-filters.tsx';
import { UsageTable } from './usage-table.tsx';
import { useNewRows } from './use-new-rows.ts';

/** The order of the log without a choice. */
const NEWEST_FIRST = '-time';
/** Fields of the service that sort by a column. */
const ORDERS = { time: 'CREATED_AT' } as const;
// The receipt names endpoint families with texts of the price list.
const loadReceipt = () => Promise.all([import('./receipt.tsx'), loadWords(['pricing', 'receipt'])]);
const Receipt = lazy(async () => ({ default: (await loadReceipt())[0].Receipt }));

/** The usage page. */
export function UsagePage() {
  const { t } = useTranslation();
  const search = useSearch({ from: '/signed-in/usage' });
  const filter = useConditions(search);
  const meanwhile = useMeanwhile();
  return (
    <>
      <PageHead
        title={t('usage.title')}
        sentence={t('usage.sentence')}
        action={
          // Invisible while it cannot be pressed, so that the sentence keeps its lines.
          <div className={clsx(meanwhile !== undefined && 'invisible')}>
            <Export filter={filter} />
          </div>
        }
      />
      {meanwhile ?? <Usage {...{ search, filter }} />}
    </>
  );
}

interface UsageProps {
  search: UsageSearch;
  filter: UsageConditions;
}

/** Everything below the head of the page. */
function Usage({ search, filter }: UsageProps) {
  const { t } = useTranslation();
  const open = search.receipt ?? search.request;
  const variables = {
    ...{ first: ROWS_PER_PAGE, ...pageVariables(search), filter },
    orderBy: orderBy(search.sort, ORDERS),
  };
  const [{ data, error, fetching }, again] = useQuery({ query: UsageQuery, variables });
  const [{ data: names }] = useQuery({ query: UsageNamesQuery });
  const loaded = data?.viewer?.usage;
  // Many rows take long to render on a slow device: the charts are rendered first.
  const usage = useDeferredValue(loaded);
  const keyNames = new Map(names?.viewer?.apiKeys.nodes.map(({ id, name }) => [id, name]));
  const poolNames = new Map(names?.viewer?.pools.nodes.map(({ id, name }) => [id, name]));
  const models = names?.catalog.nodes.map(({ name }) => name) ?? [];
  return (
    <>
      <UsageFilters {...{ search, models, keyNames, poolNames }} />
      <UsageCharts search={search} filter={filter} />
      {usage && <Log {...{ search, filter }} rows={usage.nodes} pageInfo={usage.pageInfo} />}
      {!usage && (fetching || loaded) && <SkeletonRows rows={10} height="h-[38px]" />}
      {!usage && error && (
        <Failure
          title={t('usage.failed')}
          safe={t('usage.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={again}
        />
      )}
      <Suspense>{open !== undefined && <OpenReceipt requestId={open} search={search} />}</Suspense>
    </>
  );
}

/** The conditions of the log. Opening a receipt does not change the object, so nothing loads again. */
function useConditions({ receipt: _open, ...search }: UsageSearch): UsageConditions {
  const text = JSON.stringify(conditionsOf(search));
  return useMemo((): UsageConditions => JSON.parse(text), [text]);
}

/** Returns the address of each receipt. Opening one leaves the function the same: no row is drawn again. */
function useReceiptAddress({ receipt: _open, ...search }: UsageSearch): (requestId: string) => UsageSearch {
  const text = JSON.stringify(search);
  return useMemo(() => {
    const others: UsageSearch = JSON.parse(text);
    return (receipt) => ({ ...others, receipt });
  }, [text]);
}

/** Closing removes the receipt from the address, and the filter of a pasted id. */
function OpenReceipt({ requestId, search }: { requestId: string; search: UsageSearch }) {
  const navigate = useNavigate({ from: '/usage' });
  const close = () =>
    void navigate({ search: { ...search, request: undefined, receipt: undefined }, resetScroll: false });
  return <Receipt requestId={requestId} onClose={close} />;
}

/** The menu that exports the filtered log. */
function Export({ filter }: Pick<UsageProps, 'filter'>) {
  const client = useClient();
  const exporting = async (format: ExportFormat) => {
    const { data, error } = await client.query(UsageExport, { filter, format }, FRESH).toPromise();
    return { url: data?.usageExport.downloadUrl, error };
  };
  return <ExportMenu exporting={exporting} />;
}

interface LogProps extends UsageProps {
  rows: readonly UsageRow[];
  pageInfo: ResultOf<typeof PageFields>;
}

function Log({ rows, pageInfo, search, filter }: LogProps) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/usage' });
  const filtered = Object.keys(filter).length > 0;
  const newest = search.after === undefined && search.before === undefined && search.sort === undefined;
  const { shown, waiting, show } = useNewRows(rows, filter);
  const toReceipt = useReceiptAddress(search);
  const all = newest ? shown : rows;
  const sort = (wanted: string) => {
    const change = { ...FIRST_PAGE, sort: wanted === NEWEST_FIRST ? undefined : wanted };
    void navigate({ search: { ...search, ...change }, resetScroll: false });
  };
  return (
    <section>
      <LogHead day={search.day} waiting={newest ? waiting : 0} onShow={show} />
      {all.length > 0 && (
        <UsageTable
          rows={all}
          toReceipt={toReceipt}
          sorting={{ value: search.sort ?? NEWEST_FIRST, onSort: sort }}
        />
      )}
      {all.length === 0 && (filtered || !newest) && (
        <EmptyFiltered
          onClear={() => void navigate({ search: {} })}
          sentence={search.request === undefined ? t('usage.filtered') : t('usage.notFound')}
        />
      )}
      {all.length === 0 && !filtered && newest && <NoUsage />}
      <Pager
        page={search}
        pageInfo={pageInfo}
        onGo={(page) => void navigate({ search: { ...search, ...page } })}
      />
    </section>
  );
}

interface HeadProps {
  day: UsageSearch['day'];
  /** Number of new rows that are not shown yet. */
  waiting: number;
  onShow: () => void;
}

function LogHead({ day, waiting, onShow }: HeadProps) {
  const { t } = useTranslation();
  const barText = useBarText();
  return (
    <div className="mb-2 flex min-h-8 items-center justify-between gap-3">
      <h2 className="text-section">
        {day === undefined ? t('usage.requests') : t('usage.requestsOn', { day: barText(day) })}
      </h2>
      <div role="status">
        {waiting > 0 && (
          <Button
            className="!border-accent !text-accent"
            icon={<ArrowUp size={16} strokeWidth={1.75} />}
            onClick={onShow}
          >
            {t('usage.waiting', { count: waiting })}
          </Button>
        )}
      </div>
    </div>
  );
}

function NoUsage() {
  const { t } = useTranslation();
  return (
    <EmptyFirst title={t('usage.emptyTitle')} sentence={t('usage.emptySentence')}>
      <Link to="/keys" className={buttonClass({ variant: 'primary' })}>
        {t('usage.toKeys')}
      </Link>
    </EmptyFirst>
  );
}
