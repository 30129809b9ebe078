/** GraphQL operations of the profile pages. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { UserErrorFields } from '../answer-fields.ts';

export const AccountQuery = graphql(`
  query Account {
    signInOptions {
      mail
      currentPolicy {
        id
        version
      }
    }
    viewer {
      id
      email
      emailVerifiedAt
      displayName
      locale
      timeZone
      createdAt
      securityFactors {
        hasPassword
        totpEnabled
      }
    }
  }
`);

export const UpdateProfile = graphql(
  `
    mutation UpdateProfile($input: ProfileUpdateInput!) {
      profileUpdate(input: $input) {
        viewer {
          id
          displayName
          locale
          timeZone
          notificationPreferences {
            poolExpiry
            paymentReceipts
            storefrontOpening
          }
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const RequestEmailChange = graphql(
  `
    mutation RequestEmailChange($input: EmailInput!) {
      emailChangeRequest(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const RequestVerification = graphql(
  `
    mutation RequestVerification {
      emailVerificationRequest {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const ExportData = graphql(
  `
    mutation ExportData {
      personalDataExport {
        export {
          downloadUrl
          expiresAt
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const CloseAccount = graphql(
  `
    mutation CloseAccount($input: ReauthenticateInput!) {
      accountDelete(input: $input) {
        ok
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const SecurityQuery = graphql(`
  query Security {
    signInOptions {
      passkeys
      oidcProviders {
        id
        label
        startUrl
      }
      currentPolicy {
        id
        version
      }
    }
    viewer {
      id
      email
      securityFactors {
        hasPassword
        totpEnabled
        recoveryCodesLeft
        passkeys {
          id
          name
          createdAt
          lastUsedAt
        }
        linkedIdentities {
          id
          provider
          email
          createdAt
        }
      }
      sessions(first: 100) {
        nodes {
          id
          createdAt
          lastSeenAt
          ip
          userAgent
          current
        }
      }
    }
  }
`);

export const ChangePassword = graphql(
  `
    mutation ChangePassword($input: PasswordChangeInput!) {
      passwordChange(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const EndSession = graphql(
  `
    mutation EndSession($input: IdInput!) {
      sessionRevoke(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const EndOthers = graphql(
  `
    mutation EndOthers {
      sessionsRevokeOthers {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const EndOwn = graphql(`
  mutation EndOwn {
    signOut {
      ok
    }
  }
`);

export const PrivacyQuery = graphql(`
  query Privacy {
    viewer {
      id
      email
      securityFactors {
        hasPassword
        totpEnabled
      }
      policyAcceptances {
        acceptedAt
        version {
          id
          version
        }
      }
    }
  }
`);

export const DeleteChats = graphql(
  `
    mutation DeleteChats($input: ConversationsDeleteAllInput!) {
      conversationsDeleteAll(input: $input) {
        deletedIds
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export type Account = NonNullable<ResultOf<typeof AccountQuery>['viewer']>;
export type Security = NonNullable<ResultOf<typeof SecurityQuery>['viewer']>;
export type Passkey = Security['securityFactors']['passkeys'][number];
export type Session = Security['sessions']['nodes'][number];
export type Acceptance = NonNullable<ResultOf<typeof PrivacyQuery>['viewer']>['policyAcceptances'][number];

/** The passkey dialog that is open. */
export type PasskeyTask = { kind: 'make' } | { kind: 'rename' | 'remove'; passkey: Passkey };
