/** What the frames of pages ask for before anything else is there: texts, for the script that runs first. */

/** Who visits a public page. */
export const VISITOR_TEXT = `
  query Visitor {
    viewer {
      id
      timeZone
      __typename
    }
  }
`;

/** Who is signed in, as the frame of every page needs to know. */
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
        frozen
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
