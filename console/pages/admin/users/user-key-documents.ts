/** GraphQL operations of the keys of one user. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { KeyFields } from '../../keys/documents.ts';

export const UserKeysQuery = graphql(
  `
    query UserKeys($id: ID!) {
      admin {
        user(id: $id) {
          id
          apiKeys(first: 20) {
            nodes {
              ...KeyFields
            }
            totalCount
          }
        }
      }
    }
  `,
  [KeyFields],
);

export type UserKeyList = NonNullable<
  NonNullable<ResultOf<typeof UserKeysQuery>['admin']>['user']
>['apiKeys'];

export type UserKey = UserKeyList['nodes'][number];
