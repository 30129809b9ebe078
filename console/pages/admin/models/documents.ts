/** GraphQL operations of the administrators' pages of models and groups. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { UserErrorFields } from '../../answer-fields.ts';

export const GroupsQuery = graphql(`
  query Groups {
    groupRatios {
      group
      ratio
      version
      updatedAt
    }
  }
`);

export const SetRatio = graphql(
  `
    mutation SetRatio($input: AdminGroupRatioInput!) {
      adminGroupRatioSet(input: $input) {
        groupRatio {
          group
          ratio
          version
          updatedAt
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

const AdminModelFields = graphql(`
  fragment AdminModelFields on CatalogModel {
    id
    name
    displayName
    description
    tier
    traits
    contextTokens
    pricePerRequest
    groups
    passUnknown
    storesState
    stateRetentionDays
    routing
    hedged
    endpoints {
      family
      method
      path
    }
    state
    version
    routes {
      id
      enabled
    }
    frozenInPools
    deprecation {
      retiresAt
      note
      replacement {
        id
        name
      }
    }
  }
`);

export const AdminCatalogQuery = graphql(
  `
    query AdminCatalog($states: [ModelState!]) {
      catalog(first: 100, filter: { states: $states }) {
        nodes {
          ...AdminModelFields
        }
      }
    }
  `,
  [AdminModelFields],
);

export const UpsertModel = graphql(
  `
    mutation UpsertModel($input: AdminModelInput!) {
      adminModelUpsert(input: $input) {
        model {
          ...AdminModelFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [AdminModelFields, UserErrorFields],
);

export const SetModelRouting = graphql(
  `
    mutation SetModelRouting($input: AdminModelRoutingInput!) {
      adminModelRoutingSet(input: $input) {
        model {
          ...AdminModelFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [AdminModelFields, UserErrorFields],
);

export const SetModelState = graphql(
  `
    mutation SetModelState($input: AdminModelStateInput!) {
      adminModelSetState(input: $input) {
        model {
          ...AdminModelFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [AdminModelFields, UserErrorFields],
);

export type GroupRatio = ResultOf<typeof GroupsQuery>['groupRatios'][number];
export type AdminModel = ResultOf<typeof AdminModelFields>;
