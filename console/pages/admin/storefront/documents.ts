/** GraphQL operations of the administrators' storefront page. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { UserErrorFields } from '../../answer-fields.ts';
import { StorefrontFields } from '../../pools/storefront-documents.ts';

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

export type AdminStorefront = ResultOf<typeof AdminStorefrontQuery>['poolStorefront'];
export type OfferedModel = ResultOf<typeof AdminStorefrontQuery>['catalog']['nodes'][number];

/** The dialog that is open: opening or closing the storefront, or editing its terms. */
export type StorefrontTask = 'state' | 'terms';
