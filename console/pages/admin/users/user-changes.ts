/** GraphQL mutations of users, their sessions and keys. Loaded with the dialogs that use them. */
import { graphql } from '../../../graphql.ts';
import { UserErrorFields } from '../../answer-fields.ts';
import { UserFields } from './documents.ts';

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

export const RevokeSession = graphql(
  `
    mutation RevokeSession($input: AdminReasonInput!) {
      adminSessionRevoke(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const DisableKey = graphql(
  `
    mutation DisableKeyOfUser($input: AdminReasonInput!) {
      adminApiKeyDisable(input: $input) {
        apiKey {
          id
          state
          disabledReason
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);
