/** What the wallet page asks the service. */
import { graphql, type ResultOf } from '../../graphql.ts';

export const WalletQuery = graphql(`
  query Wallet($first: Int!, $after: String, $kinds: [LedgerKind!]) {
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
        ledger(first: $first, after: $after, kinds: $kinds) {
          nodes {
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
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  }
`);

export const LedgerExport = graphql(`
  query LedgerExport($filter: LedgerFilter, $format: ExportFormat!) {
    ledgerExport(filter: $filter, format: $format) {
      downloadUrl
    }
  }
`);

export type Wallet = NonNullable<ResultOf<typeof WalletQuery>['viewer']>['wallet'];
export type Entry = Wallet['ledger']['nodes'][number];
