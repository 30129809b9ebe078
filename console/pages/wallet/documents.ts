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
        ledger(first: $first, after: $after, kinds: $kinds) {
          nodes {
            id
            seq
            kind
            bucket
            amount
            balanceAfter
            description
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

export type Wallet = NonNullable<ResultOf<typeof WalletQuery>['viewer']>['wallet'];
export type Entry = Wallet['ledger']['nodes'][number];
