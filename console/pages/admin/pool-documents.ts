/** What administrators' pages ask the service about the storefront and all pools. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { PageFields, UserErrorFields } from '../answer-fields.ts';
import { PoolFields } from '../pools/documents.ts';
import { StorefrontFields } from '../pools/storefront-documents.ts';
import { PeriodFields } from '../pools/period-documents.ts';

export const AdminStorefrontQuery = graphql(
  `
    query AdminStorefront {
      poolStorefront {
        ...StorefrontFields
        pricesConfirmed
        openQuotes
      }
      catalog(first: 100) {
        nodes {
          id
          name
        }
      }
    }
  `,
  [StorefrontFields],
);

export const SetStorefront = graphql(
  `
    mutation SetStorefront($input: AdminStorefrontInput!) {
      adminStorefrontSet(input: $input) {
        storefront {
          ...StorefrontFields
          pricesConfirmed
          openQuotes
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [StorefrontFields, UserErrorFields],
);

export const AdminPoolsQuery = graphql(
  `
    query AdminPools($first: Int!, $after: String, $search: String, $state: [PoolState!]) {
      admin {
        pools(first: $first, after: $after, search: $search, state: $state) {
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

export type AdminStorefront = ResultOf<typeof AdminStorefrontQuery>['poolStorefront'];
export type OfferedModel = ResultOf<typeof AdminStorefrontQuery>['catalog']['nodes'][number];
export type AdminPool = NonNullable<ResultOf<typeof AdminPoolsQuery>['admin']>['pools']['nodes'][number];
export type AdminPoolDetail = NonNullable<ResultOf<typeof AdminPoolQuery>['pool']>;
