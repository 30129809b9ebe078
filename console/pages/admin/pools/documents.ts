/** GraphQL operations of the administrators' pages of dedicated pools. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { PageFields, UserErrorFields } from '../../answer-fields.ts';
import { PoolFields } from '../../pools/documents.ts';
import { PeriodFields } from '../../pools/period-documents.ts';

export const AdminPoolsQuery = graphql(
  `
    query AdminPools(
      $first: Int!
      $after: String
      $before: String
      $search: String
      $state: [PoolState!]
      $orderBy: PoolOrder
    ) {
      admin {
        pools(
          first: $first
          after: $after
          before: $before
          search: $search
          state: $state
          orderBy: $orderBy
        ) {
          nodes {
            ...PoolFields
            owner {
              id
              email
            }
          }
          pageInfo {
            ...PageFields
          }
          totalCount
        }
      }
    }
  `,
  [PoolFields, PageFields],
);

export const AdminPoolQuery = graphql(
  `
    query AdminPool($id: ID!) {
      pool(id: $id) {
        ...PoolFields
        owner {
          id
          email
        }
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
      }
    }
  `,
  [PoolFields, PeriodFields],
);

export const ChangePool = graphql(
  `
    mutation ChangePool($input: AdminPoolInput!) {
      adminPoolUpdate(input: $input) {
        pool {
          ...PoolFields
          periods {
            ...PeriodFields
          }
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [PoolFields, PeriodFields, UserErrorFields],
);

export type AdminPool = NonNullable<ResultOf<typeof AdminPoolsQuery>['admin']>['pools']['nodes'][number];
export type AdminPoolDetail = NonNullable<ResultOf<typeof AdminPoolQuery>['pool']>;
