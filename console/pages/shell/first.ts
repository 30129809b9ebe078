/** Texts of the frames' first queries, and what first queries of pages share, for the early data script. */

/** A query that is sent while the scripts of its page still load. */
export interface FirstOperation {
  /** The complete operation, including the type names that the cache needs. */
  text: string;
  variables?: object;
}

/** The page of a list. */
export const PAGE_FIELDS_TEXT = `
  fragment PageFields on PageInfo {
    hasNextPage
    hasPreviousPage
    startCursor
    endCursor
    __typename
  }
`;

/** The administrator, for the frame of their pages. */
export const ADMIN_FRAME_TEXT = `
  query AdminFrame {
    viewer {
      id
      email
      role
      timeZone
      __typename
    }
    baseAddress
  }
`;

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
