/** GraphQL operations of the page of one pool. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { KeyFields } from '../keys/documents.ts';
import { PoolFields } from './documents.ts';
import { PeriodFields } from './period-documents.ts';

export const PoolQuery = graphql(
  `
    query Pool($id: ID!, $week: DateRange!) {
      pool(id: $id) {
        ...PoolFields
        periods {
          ...PeriodFields
          ledgerEntries {
            id
            seq
            kind
            amount
            reference
            createdAt
          }
        }
        keys(first: 50) {
          nodes {
            ...KeyFields
          }
          totalCount
        }
        usageSummary(range: $week, bucket: DAY) {
          totals {
            cost
            requests
            failed
          }
        }
      }
      viewer {
        id
        allowedGroups
      }
      poolStorefront {
        poolRequestsFree
      }
    }
  `,
  [PoolFields, PeriodFields, KeyFields],
);

export type PoolDetail = NonNullable<ResultOf<typeof PoolQuery>['pool']>;
