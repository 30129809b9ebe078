/** Texts of the price list's first query, for the early data script. */

export const MODEL_FIELDS_TEXT = `
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
      __typename
    }
    endpoints {
      family
      method
      path
      __typename
    }
    state
    __typename
  }
`;

export const PRICING_QUERY_TEXT = `
  query Pricing {
    catalog(first: 100) {
      nodes {
        ...ModelFields
        __typename
      }
      __typename
    }
    groupRatios {
      group
      ratio
      __typename
    }
  }
`;

/** The complete operation, including the type names that the cache needs. */
export const PRICING_TEXT = PRICING_QUERY_TEXT + MODEL_FIELDS_TEXT;
