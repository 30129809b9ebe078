/** GraphQL operations of the quickstart page. */
import { graphql } from '../../graphql.ts';
import { KeyFields } from '../keys/documents.ts';
import { EntryFields } from '../usage/documents.ts';

export const QuickstartQuery = graphql(
  `
    query Quickstart {
      viewer {
        id
        allowedGroups
        apiKeys(first: 100, filter: { states: [ENABLED] }) {
          nodes {
            ...KeyFields
          }
        }
      }
    }
  `,
  [KeyFields],
);

/** The newest request of a key. */
export const NewestRequest = graphql(
  `
    query NewestRequest($keyId: ID!) {
      viewer {
        id
        usage(first: 1, filter: { keyIds: [$keyId] }) {
          nodes {
            ...EntryFields
          }
        }
      }
    }
  `,
  [EntryFields],
);
