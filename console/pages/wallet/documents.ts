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
    subject {
      topic
      count
      pool
      playMoney
    }
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
          history(first: $first, after: $after, before: $before, kinds: $kinds) {
            nodes {
              id
              entry {
                ...LedgerFields
              }
              usage {
                day
                bucket
                amount
                balanceAfter
                entryCount
              }
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

/** The entries of one day of usage. */
export const UsageOfDayQuery = graphql(
  `
    query UsageOfDay($day: DateTime!, $bucket: CreditBucket!, $first: Int!, $after: String, $before: String) {
      viewer {
        id
        wallet {
          id
          usageOfDay(day: $day, bucket: $bucket, first: $first, after: $after, before: $before) {
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
/** A line of the history: an entry, or the usage of one day. */
export type Line = Wallet['history']['nodes'][number];
export type UsageDay = NonNullable<Line['usage']>;
