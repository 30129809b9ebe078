/** GraphQL operations of the price list, which needs no sign-in. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { MODEL_FIELDS_TEXT, PRICING_QUERY_TEXT } from './first.ts';

export const ModelFields = graphql(MODEL_FIELDS_TEXT);

export const PricingQuery = graphql(PRICING_QUERY_TEXT, [ModelFields]);

export const CatalogChanges = graphql(
  `
    subscription CatalogChanges {
      catalogUpdated {
        ...ModelFields
      }
    }
  `,
  [ModelFields],
);

export type Model = ResultOf<typeof ModelFields>;
