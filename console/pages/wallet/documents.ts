/** GraphQL operations of the wallet page. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { PageFields } from '../answer-fields.ts';

/** A ledger entry, for every list of entries. */
export const LedgerFields = graphql(`
  fragment LedgerFields on LedgerEntry {
    id
    seq
    kind
    bucket
    amount
    balanceAfter
    description
    reference
    createdAt
  }
`);

export const WalletQuery = graphql(
  `
    query Wallet($first: Int!, $after: String, $before: String, $kinds: [LedgerKind!]) {
      viewer {
        id
        wallet {
          id
          cash
          gift
          held
          available
          receivable
          frozen
          lowBalanceThreshold
          budget {
            monthly
            spentThisMonth
          }
          ledger(first: $first, after: $after, before: $before, kinds: $kinds) {
            nodes {
              ...LedgerFields
            }
            pageInfo {
              ...PageFields
            }
          }
        }
      }
    }
  `,
  [LedgerFields, PageFields],
);

export const LedgerExport = graphql(`
  query LedgerExport($filter: LedgerFilter, $format: ExportFormat!) {
    ledgerExport(filter: $filter, format: $format) {
      downloadUrl
    }
  }
`);

export type Wallet = NonNullable<ResultOf<typeof WalletQuery>['viewer']>['wallet'];
export type Entry = ResultOf<typeof LedgerFields>;
