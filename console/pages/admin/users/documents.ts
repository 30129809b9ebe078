/** GraphQL operations of the list of users. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { PageFields } from '../../answer-fields.ts';

export const UserFields = graphql(`
  fragment UserFields on User {
    id
    email
    displayName
    role
    state
    allowedGroups
    createdAt
    wallet {
      id
      available
      cash
      gift
      frozen
    }
  }
`);

export const UsersQuery = graphql(
  `
    query Users(
      $first: Int!
      $after: String
      $before: String
      $search: String
      $states: [UserState!]
      $orderBy: UserOrder
    ) {
      admin {
        users(
          first: $first
          after: $after
          before: $before
          search: $search
          states: $states
          orderBy: $orderBy
        ) {
          nodes {
            ...UserFields
          }
          pageInfo {
            ...PageFields
          }
          totalCount
        }
      }
    }
  `,
  [UserFields, PageFields],
);

export type AdminUser = ResultOf<typeof UserFields>;
