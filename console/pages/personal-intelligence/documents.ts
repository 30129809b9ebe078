/** GraphQL operations of Personal Intelligence. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { PageFields, UserErrorFields } from '../answer-fields.ts';

export const ItemFields = graphql(`
  fragment ItemFields on DerivedItem {
    id
    kind
    text
    origin
    pinned
    suppressed
    lastSeenAt
    expiresAt
    timesUsed
    version
  }
`);

export const IntelligenceQuery = graphql(`
  query Intelligence {
    viewer {
      id
      email
      personalIntelligence {
        storing
        storedConversationCount
        storageUsed
        pendingJobs
        readingModel
        switches {
          kind
          enabled
          changedAt
          itemCount
        }
      }
    }
  }
`);

export const ItemsQuery = graphql(
  `
    query Items($first: Int!, $after: String, $before: String, $kinds: [PersonalItemKind!], $search: String) {
      viewer {
        id
        personalIntelligence {
          items(first: $first, after: $after, before: $before, kinds: $kinds, search: $search) {
            nodes {
              ...ItemFields
            }
            pageInfo {
              ...PageFields
            }
            totalCount
          }
        }
      }
    }
  `,
  [ItemFields, PageFields],
);

export const ItemQuery = graphql(
  `
    query Item($id: ID!) {
      node(id: $id) {
        id
        ... on DerivedItem {
          ...ItemFields
          sources {
            messageId
            conversationId
            conversationTitle
            excerpt
            sentAt
          }
        }
      }
    }
  `,
  [ItemFields],
);

export const PreviewQuery = graphql(`
  query Preview($modelName: String!, $draft: String!) {
    viewer {
      id
      personalIntelligence {
        injectionPreview(modelName: $modelName, draft: $draft) {
          text
          tokens
          budgetTokens
          omitted
        }
      }
    }
  }
`);

export const SwitchSet = graphql(
  `
    mutation SwitchSet($input: PersonalSwitchInput!) {
      personalSwitchSet(input: $input) {
        personalIntelligence {
          storing
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const ItemCreate = graphql(
  `
    mutation ItemCreate($input: DerivedItemCreateInput!) {
      derivedItemCreate(input: $input) {
        item {
          ...ItemFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [ItemFields, UserErrorFields],
);

export const ItemUpdate = graphql(
  `
    mutation ItemUpdate($input: DerivedItemUpdateInput!) {
      derivedItemUpdate(input: $input) {
        item {
          ...ItemFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [ItemFields, UserErrorFields],
);

export const ItemDelete = graphql(
  `
    mutation ItemDelete($input: DerivedItemDeleteInput!) {
      derivedItemDelete(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const ItemsDeleteAll = graphql(
  `
    mutation ItemsDeleteAll($input: DerivedItemsDeleteAllInput!) {
      derivedItemsDeleteAll(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const ForgetEverything = graphql(
  `
    mutation ForgetEverything($input: ForgetEverythingInput!) {
      personalForgetEverything(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export type Item = ResultOf<typeof ItemFields>;
export type Intelligence = NonNullable<ResultOf<typeof IntelligenceQuery>['viewer']>['personalIntelligence'];
export type Switch = Intelligence['switches'][number];
