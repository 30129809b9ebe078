/** Texts of the first queries of sign-in and registration, for the early data script. */

export const SIGN_IN_TEXT = `
  query SignInOptions {
    viewer {
      id
      __typename
    }
    signInOptions {
      password
      passkeys
      mail
      registrationOpen
      oidcProviders {
        id
        label
        startUrl
        __typename
      }
      currentPolicy {
        id
        version
        __typename
      }
      __typename
    }
  }
`;

export const REGISTER_TEXT = `
  query RegisterOptions {
    signInOptions {
      registrationOpen
      currentPolicy {
        id
        version
        __typename
      }
      __typename
    }
  }
`;
