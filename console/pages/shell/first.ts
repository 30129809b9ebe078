/** Texts of the frames' first queries, for the early data script. */

/** The visitor of a public page. */
export const VISITOR_TEXT = `
  query Visitor {
    viewer {
      id
      timeZone
      __typename
    }
  }
`;

/** The signed-in user, for the frame of every page. */
export const VIEWER_TEXT = `
  query Viewer {
    viewer {
      id
      email
      role
      timeZone
      mustAcceptPolicy {
        id
        version
        __typename
      }
      wallet {
        id
        available
        held
        frozen
        spendAlerts {
          id
          keyId
          keyName
          percent
          spent
          limit
          __typename
        }
        __typename
      }
      pools(first: 3, state: [EXPIRING]) {
        nodes {
          id
          name
          state
          endsAt
          autoRenew
          __typename
        }
        __typename
      }
      __typename
    }
    baseAddress
  }
`;
