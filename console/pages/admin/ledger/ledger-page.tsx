/** The ledger entries of all users, or of one user. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { Filter } from '../../../components/menu.tsx';
import { EmptyFiltered } from '../../../components/notice.tsx';
import { FIRST_PAGE, pageVariables } from '../../../components/search-parameters.ts';
import { PageHead } from '../../../components/page-head.tsx';
import { graphql } from '../../../graphql.ts';
import { useTranslation } from '../../../translation.ts';
import { PageFields } from '../../answer-fields.ts';
import { LedgerFields } from '../../wallet/documents.ts';
import { EntryTable } from '../../wallet/entry-table.tsx';
import { LEDGER_KINDS } from '../../wallet/search.ts';
import { LedgerCheck } from './ledger-check.tsx';
import { PagedList } from '../paged-list.tsx';
import { UserFilter } from '../user-filter.tsx';

const ENTRIES_PER_PAGE = 50;

const LedgerQuery = graphql(
  `
    query Ledger($first: Int!, $after: String, $before: String, $kinds: [LedgerKind!], $userId: ID) {
      admin {
        ledger(first: $first, after: $after, before: $before, kinds: $kinds, userId: $userId) {
          nodes {
            ...LedgerFields
            owner {
              id
              email
            }
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

interface OwnerProps {
  entry: { owner: { id: string; email: string } | null } | undefined;
}

function Owner({ entry }: OwnerProps) {
  const owner = entry?.owner;
  if (!owner) return null;
  return (
    <Link
      to="/admin/users/$id"
      params={{ id: owner.id }}
      className="inline-block min-w-[118px] rounded-tag text-accent underline [overflow-wrap:anywhere]"
    >
      {owner.email}
    </Link>
  );
}

/** The page. */
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
        <UserFilter
          value={search.search}
          onChange={(id) => void navigate({ search: { ...search, search: id, ...FIRST_PAGE } })}
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
        {(entries) => (
          <EntryTable
            entries={entries}
            ownerOf={(id) => <Owner entry={entries.find((one) => one.id === id)} />}
          />
        )}
      </PagedList>
    </>
  );
}
