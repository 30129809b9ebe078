/** What the profile page asks the service. */
import { graphql, type ResultOf } from '../../graphql.ts';

export const ProfileQuery = graphql(`
  query Profile {
    viewer {
      id
      email
      wallet {
        id
        lowBalanceThreshold
      }
      policyAcceptances {
        acceptedAt
        version {
          id
          version
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

export const ChangePassword = graphql(`
  mutation ChangePassword($input: PasswordChangeInput!) {
    passwordChange(input: $input) {
      userErrors {
        code
        message
        field
      }
    }
  }
`);

export const EndSession = graphql(`
  mutation EndSession($input: IdInput!) {
    sessionRevoke(input: $input) {
      userErrors {
        code
        message
        field
      }
    }
  }
`);

export const EndOthers = graphql(`
  mutation EndOthers {
    sessionsRevokeOthers {
      userErrors {
        code
        message
        field
      }
    }
  }
`);

export const SetThreshold = graphql(`
  mutation SetThreshold($input: WalletSettingsInput!) {
    walletSettingsUpdate(input: $input) {
      wallet {
        id
        lowBalanceThreshold
      }
      userErrors {
        code
        message
        field
      }
    }
  }
`);

export type Profile = NonNullable<ResultOf<typeof ProfileQuery>['viewer']>;
export type Session = Profile['sessions']['nodes'][number];
