/** GraphQL queries of the command palette's search. */
import { graphql } from '../../graphql.ts';

/** The names that are searched on this device. */
export const NamesQuery = graphql(`
  query FindNames {
    catalog(first: 100) {
      nodes {
        id
        name
      }
    }
    viewer {
      id
      pools(first: 100) {
        nodes {
          id
          name
          subdomain
        }
      }
    }
  }
`);

/** Keys, and a request if the text may be the id of one. */
export const FindQuery = graphql(`
  query Find($text: String!, $requestId: String!, $isRequest: Boolean!) {
    viewer {
      id
      apiKeys(first: 8, filter: { search: $text }) {
        nodes {
          id
          name
          suffix
        }
      }
    }
    requestReceipt(requestId: $requestId) @include(if: $isRequest) {
      entry {
        id
        requestId
        modelName
      }
    }
  }
`);

/** Users, pools and upstreams, for administrators. */
export const AdminFindQuery = graphql(`
  query AdminFind($text: String!) {
    admin {
      users(first: 5, search: $text) {
        nodes {
          id
          email
        }
      }
      pools(first: 5, search: $text) {
        nodes {
          id
          name
          subdomain
        }
      }
      providers {
        id
        name
      }
    }
  }
`);
