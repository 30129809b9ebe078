/** GraphQL operations of the notice about learned items, and of the list of open tasks. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { UserErrorFields } from '../answer-fields.ts';

export const LearnedQuery = graphql(`
  query Learned {
    viewer {
      id
      personalIntelligence {
        learned {
          item {
            id
            text
          }
          replacedText
          learnedAt
        }
      }
    }
  }
`);

export const IntelligenceChanges = graphql(`
  subscription IntelligenceChanges {
    personalIntelligenceUpdated {
      storing
    }
  }
`);

export const LearnedUndo = graphql(
  `
    mutation LearnedUndo($input: LearnedItemsUndoInput!) {
      learnedItemsUndo(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const LearnedSeen = graphql(
  `
    mutation LearnedSeen($input: LearnedItemsSeenInput!) {
      learnedItemsSeen(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const OpenTasksQuery = graphql(`
  query OpenTasks($first: Int!) {
    viewer {
      id
      personalIntelligence {
        items(first: $first, kinds: [WORKING_ON]) {
          nodes {
            id
            text
            suppressed
            lastSeenAt
            sources {
              messageId
              conversationId
              conversationTitle
            }
          }
        }
      }
    }
  }
`);

type Intelligence<Query> = Query extends { viewer: infer Viewer }
  ? NonNullable<Viewer> extends { personalIntelligence: infer Own }
    ? Own
    : never
  : never;
export type Learned = Intelligence<ResultOf<typeof LearnedQuery>>['learned'][number];
export type OpenTask = Intelligence<ResultOf<typeof OpenTasksQuery>>['items']['nodes'][number];
