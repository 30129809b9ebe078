/** What the price list asks the service; no sign-in is needed. */
import { graphql, type ResultOf } from '../../graphql.ts';

export const ModelFields = graphql(`
  fragment ModelFields on CatalogModel {
    id
    name
    description
    tier
    traits
    contextTokens
    pricePerRequest
    prices {
      group
      pricePerRequest
    }
    endpoints {
      family
      method
      path
    }
    state
  }
`);

export const PricingQuery = graphql(
  `
    query Pricing {
      catalog(first: 100) {
        nodes {
          ...ModelFields
        }
      }
      groupRatios {
        group
        ratio
      }
    }
  `,
  [ModelFields],
);

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
