/** GraphQL operations of the Playground. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { PageFields, UserErrorFields } from '../answer-fields.ts';

export const MessageFields = graphql(`
  fragment MessageFields on Message {
    id
    role
    content
    reasoning
    attachments {
      mimeType
      dataBase64
    }
    state
    error
    errorCode
    modelName
    parentId
    requestId
    usage {
      id
      cost
      ttftMs
      latencyMs
      inputTokens
      outputTokens
    }
    usedItems {
      itemId
      kind
      text
    }
    createdAt
  }
`);

export const PlaygroundQuery = graphql(`
  query Playground {
    viewer {
      id
      playground {
        storing
        defaultModel {
          id
          name
        }
      }
      personalIntelligence {
        storing
        storedConversationCount
        switches {
          kind
          enabled
        }
      }
    }
    catalog(first: 100) {
      nodes {
        id
        name
        inputModalities
        traits
        chatParameters
        prices {
          group
          pricePerRequest
        }
        endpoints {
          family
        }
      }
    }
  }
`);

export const ChatsQuery = graphql(
  `
    query Chats($search: String, $after: String, $before: String) {
      viewer {
        id
        playground {
          conversations(first: 50, search: $search, after: $after, before: $before) {
            nodes {
              id
              title
              updatedAt
            }
            pageInfo {
              ...PageFields
            }
            totalCount
          }
        }
        personalIntelligence {
          storageUsed
        }
      }
    }
  `,
  [PageFields],
);

export const ChatQuery = graphql(
  `
    query Chat($id: ID!, $after: String) {
      node(id: $id) {
        id
        ... on Conversation {
          title
          stored
          temporary
          model {
            id
            name
          }
          messages(first: 100, after: $after) {
            nodes {
              ...MessageFields
            }
            pageInfo {
              ...PageFields
            }
          }
        }
      }
    }
  `,
  [MessageFields, PageFields],
);

export const ChatCreate = graphql(
  `
    mutation ChatCreate($input: ConversationCreateInput!) {
      conversationCreate(input: $input) {
        conversation {
          id
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const ChatRename = graphql(
  `
    mutation ChatRename($input: RenameInput!) {
      conversationRename(input: $input) {
        conversation {
          id
          title
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const ChatDelete = graphql(
  `
    mutation ChatDelete($input: ConversationDeleteInput!) {
      conversationDelete(input: $input) {
        deletedIds
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const ChatsDelete = graphql(
  `
    mutation ChatsDelete($input: ConversationsDeleteAllInput!) {
      conversationsDeleteAll(input: $input) {
        deletedIds
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const MessageSend = graphql(
  `
    mutation MessageSend($input: MessageSendInput!) {
      messageSend(input: $input) {
        userMessage {
          ...MessageFields
        }
        reply {
          ...MessageFields
        }
        price
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [MessageFields, UserErrorFields],
);

export const MessageRegenerate = graphql(
  `
    mutation MessageRegenerate($input: MessageRegenerateInput!) {
      messageRegenerate(input: $input) {
        reply {
          ...MessageFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [MessageFields, UserErrorFields],
);

export const MessageStop = graphql(
  `
    mutation MessageStop($input: IdInput!) {
      messageStop(input: $input) {
        message {
          id
          state
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const MessageStream = graphql(
  `
    subscription MessageStream($messageId: ID!, $afterSeq: Int!) {
      messageStream(messageId: $messageId, afterSeq: $afterSeq) {
        __typename
        ... on MessageTextDelta {
          after
          seq
          text
        }
        ... on MessageReasoningDelta {
          after
          seq
          text
        }
        ... on MessageCompleted {
          message {
            ...MessageFields
          }
        }
        ... on MessageFailed {
          errorCode
          retryable
          message {
            ...MessageFields
          }
        }
      }
    }
  `,
  [MessageFields],
);

export const MeasuresQuery = graphql(`
  query Measures($requestId: String!) {
    usageEntry(requestId: $requestId) {
      id
      cost
      ttftMs
      latencyMs
      inputTokens
      outputTokens
    }
  }
`);

export type ChatMessage = ResultOf<typeof MessageFields>;
export type StreamEvent = ResultOf<typeof MessageStream>['messageStream'];
export type UsedItem = ChatMessage['usedItems'][number];
export type Picture = ChatMessage['attachments'][number];
