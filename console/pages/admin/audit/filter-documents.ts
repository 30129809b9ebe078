/** GraphQL queries of the filters of the audit log. */
import { graphql } from '../../../graphql.ts';
import { AuditFields } from './audit-item.tsx';

export const ActionsQuery = graphql(`
  query AuditActions {
    admin {
      auditActions
    }
  }
`);

export const ActorsQuery = graphql(`
  query AuditActors($search: String!) {
    admin {
      auditActors(search: $search) {
        kind
        id
        label
      }
    }
  }
`);

/** The newest event of an actor, which has its name. */
export const ChosenActorQuery = graphql(`
  query ChosenActor($filter: AuditFilter) {
    admin {
      auditLog(first: 1, filter: $filter) {
        nodes {
          id
          actor {
            kind
            label
          }
        }
      }
    }
  }
`);

/** The newest event of an object, which has its name. */
export const ChosenTargetQuery = graphql(
  `
    query ChosenTarget($id: ID!) {
      admin {
        auditLog(first: 1, filter: { targetId: $id }) {
          nodes {
            ...AuditFields
          }
        }
      }
    }
  `,
  [AuditFields],
);

/** Objects whose names contain the text, and all objects of which there are few. */
export const TargetsQuery = graphql(`
  query AuditTargets($search: String!, $states: [ModelState!]) {
    admin {
      users(first: 5, search: $search) {
        nodes {
          id
          email
          wallet {
            id
          }
        }
      }
      apiKeys(first: 5, filter: { search: $search }) {
        nodes {
          id
          name
          suffix
        }
      }
      pools(first: 5, search: $search) {
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
      dataPlaneNodes {
        id
        name
      }
    }
    catalog(first: 100, filter: { search: $search, states: $states }) {
      nodes {
        id
        name
      }
    }
  }
`);
