/** What the usage page asks the service. */
import { graphql, type ResultOf } from '../../graphql.ts';

export const EntryFields = graphql(`
  fragment EntryFields on UsageEntry {
    id
    requestId
    modelName
    keyId
    source
    inputTokens
    outputTokens
    cost
    status
    httpStatus
    latencyMs
    ttftMs
    ip
    createdAt
  }
`);

export const UsageQuery = graphql(
  `
    query Usage($first: Int!, $after: String, $filter: UsageFilter) {
      viewer {
        id
        apiKeys(first: 100) {
          nodes {
            id
            name
          }
        }
        usage(first: $first, after: $after, filter: $filter) {
          nodes {
            ...EntryFields
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
      catalog(first: 100) {
        nodes {
          id
          name
        }
      }
    }
  `,
  [EntryFields],
);

export const NewUsage = graphql(
  `
    subscription NewUsage {
      usageAdded {
        ...EntryFields
      }
    }
  `,
  [EntryFields],
);

export type UsageRow = ResultOf<typeof EntryFields>;
