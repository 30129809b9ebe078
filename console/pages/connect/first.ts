/** Text of the quickstart's first query, for the early data script. */
import { KEY_FIELDS_TEXT } from '../keys/first.ts';
import type { FirstOperation } from '../shell/first.ts';

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
      __typename
    }
  }
`;

/** The first query of the page. */
export function first(): FirstOperation[] {
  return [{ text: QUICKSTART_QUERY_TEXT + KEY_FIELDS_TEXT }];
}
