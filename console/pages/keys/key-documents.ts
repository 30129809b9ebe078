/** The GraphQL query of the page of one key. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { EntryFields } from '../usage/documents.ts';
import { KeyFields } from './documents.ts';

export const KeyQuery = graphql(
  `
    query Key($id: ID!, $week: DateRange!, $month: DateRange!, $filter: UsageFilter) {
      node(id: $id) {
        __typename
        id
        ... on ApiKey {
          ...KeyFields
          createdAt
          allowedIps
          allowedModels {
            id
            name
          }
          usageSummary(range: $week, bucket: DAY) {
            series {
              at
              totals {
                requests
                __typename
              }
              __typename
            }
            __typename
          }
          month: usageSummary(range: $month, bucket: DAY) {
            totals {
              cost
              requests
              failed
            }
            series {
              at
              totals {
                cost
                requests
                failed
                inputTokens
                outputTokens
              }
            }
          }
        }
      }
      viewer {
        id
        allowedGroups
        usage(first: 10, filter: $filter) {
          nodes {
            ...EntryFields
          }
        }
      }
    }
  `,
  [KeyFields, EntryFields],
);

/** The key of the page. */
export type KeyDetail = Extract<NonNullable<ResultOf<typeof KeyQuery>['node']>, { __typename: 'ApiKey' }>;
