/** Text of the quickstart's first query, for the early data script. */
import { KEY_FIELDS_TEXT } from '../keys/first.ts';
import type { FirstOperation } from '../shell/first.ts';

/** The keys, and the settings of the key that is chosen at first: a second query would show them later. */
export const QUICKSTART_QUERY_TEXT = `
  query Quickstart {
    viewer {
      id
      allowedGroups
      apiKeys(first: 100, filter: { states: [ENABLED] }) {
        nodes {
          ...KeyFields
        }
        __typename
      }
      preset: apiKeys(first: 1, filter: { states: [ENABLED] }) {
        nodes {
          id
          clientSnippets {
            client
            files {
              path
              content
              __typename
            }
            verifyCommand
            hints {
              kind
              value
              __typename
            }
            __typename
          }
          __typename
        }
        __typename
      }
      __typename
    }
  }
`;

/** The first query of the page. */
export function first(): FirstOperation[] {
  return [{ text: QUICKSTART_QUERY_TEXT + KEY_FIELDS_TEXT }];
}
