/** The latest ledger entries of one user. */
import { useQuery } from 'urql';
import { graphql } from '../../../graphql.ts';
import { LedgerFields } from '../../wallet/documents.ts';
import { EntryTable } from '../../wallet/entry-table.tsx';
import { Region } from '../region.tsx';
import { NothingYet } from './user-facts.tsx';

const UserEntriesQuery = graphql(
  `
    query UserEntries($id: ID!) {
      admin {
        ledger(userId: $id, first: 10) {
          nodes {
            ...LedgerFields
          }
        }
      }
    }
  `,
  [LedgerFields],
);

/** The table. */
export function UserEntries({ id }: { id: string }) {
  const [{ data, error }, again] = useQuery({ query: UserEntriesQuery, variables: { id } });
  return (
    <Region data={data?.admin?.ledger.nodes} error={error} onRetry={again}>
      {(entries) => (entries.length > 0 ? <EntryTable entries={entries} /> : <NothingYet />)}
    </Region>
  );
}
