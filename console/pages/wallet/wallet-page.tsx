/** The wallet: balance, its parts, how to add credit, top-ups, and ledger entries. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useClient, useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { EmptyFiltered, EmptyFirst, Failure, SkeletonRows } from '../../components/notice.tsx';
import { Filter } from '../../components/menu.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pager } from '../../components/pager.tsx';
import { pageVariables } from '../../components/search-parameters.ts';
import { useTranslation } from '../../translation.ts';
import { AddCredit } from './add-credit.tsx';
import { AutoTopUp } from './auto-top-up.tsx';
import { Balance } from './balance.tsx';
import { type ExportFormat, ExportMenu, FRESH } from '../export-menu.tsx';
import { LedgerExport, type Wallet, WalletQuery } from './documents.ts';
import { HistoryTable } from './history-table.tsx';
import { type Payments, PaymentsQuery } from './payment-documents.ts';
import { LEDGER_KINDS, type WalletSearch } from './search.ts';
import { LiveTopUp } from './top-up-state.tsx';
import { TopUpTable } from './top-up-table.tsx';

const LINES_PER_PAGE = 50;

/** The wallet page. */
export function WalletPage() {
  const { t } = useTranslation();
  const search = useSearch({ from: '/signed-in/wallet' });
  const variables = {
    first: LINES_PER_PAGE,
    ...pageVariables(search),
    kinds: search.kind ? [search.kind] : null,
  };
  const [{ data, error }, again] = useQuery({ query: WalletQuery, variables });
  const [payments] = useQuery({ query: PaymentsQuery });
  // All parts appear at once, so that none pushes another down.
  const wallet = payments.data || payments.error ? data?.viewer?.wallet : undefined;
  return (
    <>
      <PageHead title={t('wallet.title')} sentence={t('wallet.sentence')} />
      {search.topup !== undefined && <LiveTopUp id={search.topup} cancelled={search.cancelled ?? false} />}
      {wallet && (
        <div className={HEAD}>
          <Balance wallet={wallet} />
          {payments.data && <WaysToPay payments={payments.data} search={search} />}
        </div>
      )}
      {wallet && <TopUpTable topUps={payments.data?.viewer?.wallet.topUps.nodes ?? []} />}
      {wallet && <Entries wallet={wallet} search={search} />}
      {!wallet && !error && <SkeletonRows rows={8} />}
      {!wallet && error && (
        <Failure
          title={t('wallet.failed')}
          safe={t('wallet.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={again}
        />
      )}
    </>
  );
}

const HEAD = 'grid grid-cols-[minmax(0,1fr)_340px] items-start gap-10 max-xl:grid-cols-1 max-xl:gap-6';

/** How to add credit, and automatic top-ups if cards are accepted. */
function WaysToPay({ payments, search }: { payments: Payments; search: WalletSearch }) {
  const { paymentOptions: options, viewer } = payments;
  if (!viewer) return null;
  return (
    <div>
      <AddCredit options={options} back={search.back} />
      {options.card && <AutoTopUp wallet={viewer.wallet} />}
    </div>
  );
}

function Entries({ wallet, search }: { wallet: Wallet; search: WalletSearch }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/wallet' });
  const exporting = useLedgerExport();
  const { nodes, pageInfo } = wallet.history;
  const filtered = [search.kind, search.after, search.before].some((value) => value !== undefined);
  const kinds = LEDGER_KINDS.map((value) => ({ value, word: t(`wallet.kinds.${value}`) }));
  if (nodes.length === 0 && !filtered) {
    return (
      <div className="mt-10">
        <EmptyFirst title={t('wallet.emptyTitle')} sentence={t('wallet.emptySentence')} />
      </div>
    );
  }
  return (
    <section className="mt-10">
      <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-2">
        <h2 className="text-section">{t('wallet.entries')}</h2>
        <span className="text-table text-ink-3">{t('wallet.entriesNote')}</span>
        <span className="ml-auto flex flex-wrap items-center gap-2 max-sm:ml-0">
          <Filter
            name={t('wallet.kind')}
            value={search.kind}
            options={kinds}
            onChange={(kind) => void navigate({ search: { kind } })}
          />
          <ExportMenu exporting={(format) => exporting(search.kind, format)} />
        </span>
      </div>
      {nodes.length === 0 ? (
        <EmptyFiltered sentence={t('wallet.filtered')} onClear={() => void navigate({ search: {} })} />
      ) : (
        <HistoryTable lines={nodes} />
      )}
      <Pager
        page={search}
        pageInfo={pageInfo}
        onGo={(page) => void navigate({ search: { ...search, ...page } })}
      />
    </section>
  );
}

/** Returns a function that requests the download address of entries of one kind or of all kinds. */
function useLedgerExport() {
  const client = useClient();
  return async (kind: WalletSearch['kind'], format: ExportFormat) => {
    const filter = kind === undefined ? null : { kinds: [kind] };
    const { data, error } = await client.query(LedgerExport, { filter, format }, FRESH).toPromise();
    return { url: data?.ledgerExport.downloadUrl, error };
  };
}
