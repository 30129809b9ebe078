/** The ledger entries of all users, or of one user. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { Filter } from '../../../components/menu.tsx';
import { EmptyFiltered } from '../../../components/notice.tsx';
import { FIRST_PAGE, pageVariables } from '../../../components/search-parameters.ts';
import { PageHead } from '../../../components/page-head.tsx';
import { SearchField } from '../../../components/search-field.tsx';
import { graphql } from '../../../graphql.ts';
import { useTranslation } from '../../../translation.ts';
import { PageFields } from '../../answer-fields.ts';
import { LedgerFields } from '../../wallet/documents.ts';
import { EntryTable } from '../../wallet/entry-table.tsx';
import { LEDGER_KINDS } from '../../wallet/search.ts';
import { LedgerCheck } from './ledger-check.tsx';
import { PagedList } from '../paged-list.tsx';

const ENTRIES_PER_PAGE = 50;

const LedgerQuery = graphql(
  `
    query Ledger($first: Int!, $after: String, $before: String, $kinds: [LedgerKind!], $userId: ID) {
      admin {
        ledger(first: $first, after: $after, before: $before, kinds: $kinds, userId: $userId) {
          nodes {
            ...LedgerFields
          }
          pageInfo {
            ...PageFields
          }
        }
      }
    }
  `,
  [LedgerFields, PageFields],
);

/** The page. Its search field filters by user id. */
export function LedgerPage() {
  const { t } = useTranslation();
  const search = useSearch({ from: '/admin/ledger' });
  const navigate = useNavigate({ from: '/admin/ledger' });
  const variables = {
    first: ENTRIES_PER_PAGE,
    ...pageVariables(search),
    kinds: search.kind ? [search.kind] : null,
    userId: search.search ?? null,
  };
  const [{ data, error }, again] = useQuery({ query: LedgerQuery, variables });
  return (
    <>
      <PageHead title={t('admin.places.ledger')} sentence={t('wallet.entriesNote')} />
      <LedgerCheck />
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchField
          label={t('admin.ledger.search')}
          placeholder={t('admin.ledger.hint')}
          value={search.search}
          onSearch={(text) => void navigate({ search: { ...search, search: text, ...FIRST_PAGE } })}
        />
        <Filter
          name={t('wallet.kind')}
          value={search.kind}
          options={LEDGER_KINDS.map((value) => ({ value, word: t(`wallet.kinds.${value}`) }))}
          onChange={(kind) => void navigate({ search: { ...search, kind, ...FIRST_PAGE } })}
        />
      </div>
      <PagedList
        connection={data?.admin?.ledger}
        error={error}
        onRetry={again}
        page={search}
        onGo={(page) => void navigate({ search: { ...search, ...page } })}
        empty={
          <EmptyFiltered sentence={t('wallet.filtered')} onClear={() => void navigate({ search: {} })} />
        }
      >
        {(entries) => <EntryTable entries={entries} />}
      </PagedList>
    </>
  );
}
