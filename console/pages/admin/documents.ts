/** What administrators' pages ask the service about users and money. */
import { graphql, type ResultOf } from '../../graphql.ts';

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
            hasNextPage
            endCursor
          }
          totalCount
        }
      }
    }
  `,
  [UserFields],
);

export const CreateUser = graphql(
  `
    mutation CreateUser($input: AdminUserCreateInput!) {
      adminUserCreate(input: $input) {
        user {
          ...UserFields
        }
        userErrors {
          code
          message
          field
        }
      }
    }
  `,
  [UserFields],
);

export const UpdateUser = graphql(
  `
    mutation UpdateUser($input: AdminUserUpdateInput!) {
      adminUserUpdate(input: $input) {
        user {
          ...UserFields
        }
        userErrors {
          code
          message
          field
        }
      }
    }
  `,
  [UserFields],
);

export const CreateLink = graphql(`
  mutation CreateLink($input: AdminReasonInput!) {
    adminUserLinkCreate(input: $input) {
      url
      expiresAt
      userErrors {
        code
        message
        field
      }
    }
  }
`);

export const RevokeSessions = graphql(`
  mutation RevokeSessions($input: AdminReasonInput!) {
    adminUserSessionsRevoke(input: $input) {
      userErrors {
        code
        message
        field
      }
    }
  }
`);

export const AdjustWallet = graphql(`
  mutation AdjustWallet($input: AdminWalletAdjustInput!) {
    adminWalletAdjust(input: $input) {
      wallet {
        id
        available
        cash
        gift
      }
      userErrors {
        code
        message
        field
      }
    }
  }
`);

export type AdminUser = ResultOf<typeof UserFields>;
