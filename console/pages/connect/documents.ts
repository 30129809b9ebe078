/** GraphQL operations of the quickstart page. */
import { graphql } from '../../graphql.ts';
import { KeyFields } from '../keys/documents.ts';
import { EntryFields } from '../usage/documents.ts';
import { QUICKSTART_QUERY_TEXT } from './first.ts';

export const QuickstartQuery = graphql(QUICKSTART_QUERY_TEXT, [KeyFields]);

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
