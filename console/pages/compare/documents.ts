/** GraphQL operations of the comparison of models, which needs no sign-in. */
import { graphql, type ResultOf } from '../../graphql.ts';

export const ModelNamesQuery = graphql(`
  query ModelNames {
    catalog(first: 100) {
      nodes {
        id
        name
      }
    }
  }
`);

const ComparedFields = graphql(`
  fragment ComparedFields on CatalogModel {
    id
    name
    description
    tier
    traits
    contextTokens
    maxOutputTokens
    inputModalities
    outputModalities
    storesState
    stateRetentionDays
    prices {
      group
      pricePerRequest
    }
    endpoints {
      family
    }
    health {
      status
      successRate24h
      p50LatencyMs
      p95LatencyMs
      p50FirstTokenMs
      p95FirstTokenMs
    }
    uptime {
      name
      share
    }
  }
`);

/** An empty name finds no model. */
export const CompareQuery = graphql(
  `
    query Compare($first: String!, $second: String!, $third: String!, $fourth: String!) {
      first: catalogModel(name: $first) {
        ...ComparedFields
      }
      second: catalogModel(name: $second) {
        ...ComparedFields
      }
      third: catalogModel(name: $third) {
        ...ComparedFields
      }
      fourth: catalogModel(name: $fourth) {
        ...ComparedFields
      }
    }
  `,
  [ComparedFields],
);

export type Compared = ResultOf<typeof ComparedFields>;
