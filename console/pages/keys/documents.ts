/** GraphQL operations of the key pages. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { PageFields } from '../answer-fields.ts';
import { KEY_FIELDS_TEXT, KEYS_QUERY_TEXT } from './first.ts';

export const KeyFields = graphql(KEY_FIELDS_TEXT);

export const KeysQuery = graphql(KEYS_QUERY_TEXT, [KeyFields, PageFields]);

/** The account's pools, for filters and for new keys. */
export const KeyPoolsQuery = graphql(`
  query KeyPools {
    viewer {
      id
      pools(first: 100) {
        nodes {
          id
          name
          subdomain
          state
        }
      }
    }
  }
`);

export const KeyChanges = graphql(
  `
    subscription KeyChanges {
      apiKeyUpdated {
        ...KeyFields
      }
    }
  `,
  [KeyFields],
);

export type Key = ResultOf<typeof KeyFields>;
export type KeyConnection = NonNullable<ResultOf<typeof KeysQuery>['viewer']>['apiKeys'];

/** A key of the list, with its usage in the last week. */
export type ListedKey = KeyConnection['nodes'][number];

/** The dialog that is open, and its key. A new key is for the main domain, unless `poolId` names a pool. */
export type KeyDialog =
  | { kind: 'create'; poolId?: string }
  | { kind: 'connect' | 'ready' | 'edit' | 'leaked' | 'rotate' | 'grace'; key: Key };
