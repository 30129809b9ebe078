/** What administrators' pages ask the service about users and money. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { PageFields, UserErrorFields } from '../answer-fields.ts';

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
    query Users($first: Int!, $after: String, $search: String, $states: [UserState!]) {
      admin {
        users(first: $first, after: $after, search: $search, states: $states) {
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

export const CreateUser = graphql(
  `
    mutation CreateUser($input: AdminUserCreateInput!) {
      adminUserCreate(input: $input) {
        user {
          ...UserFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserFields, UserErrorFields],
);

export const UpdateUser = graphql(
  `
    mutation UpdateUser($input: AdminUserUpdateInput!) {
      adminUserUpdate(input: $input) {
        user {
          ...UserFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserFields, UserErrorFields],
);

export const CreateLink = graphql(
  `
    mutation CreateLink($input: AdminReasonInput!) {
      adminUserLinkCreate(input: $input) {
        url
        expiresAt
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const RevokeSessions = graphql(
  `
    mutation RevokeSessions($input: AdminReasonInput!) {
      adminUserSessionsRevoke(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const AdjustWallet = graphql(
  `
    mutation AdjustWallet($input: AdminWalletAdjustInput!) {
      adminWalletAdjust(input: $input) {
        wallet {
          id
          available
          cash
          gift
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export type AdminUser = ResultOf<typeof UserFields>;
