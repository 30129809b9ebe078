/** GraphQL operations of the nodes page. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { UserErrorFields } from '../../answer-fields.ts';

const NodeFields = graphql(`
  fragment NodeFields on DataPlaneNode {
    id
    name
    region
    version
    state
    retired
    appliedRevision
    latestRevision
    inflight
    rps
    usageBacklog
    lastSeenAt
    leases
    held
  }
`);

export const NodesQuery = graphql(
  `
    query Nodes {
      admin {
        configRevision
        dataPlaneNodes {
          ...NodeFields
        }
      }
    }
  `,
  [NodeFields],
);

export const NodeChanges = graphql(
  `
    subscription NodeChanges {
      adminNodeUpdated {
        ...NodeFields
      }
    }
  `,
  [NodeFields],
);

export const CreateNode = graphql(
  `
    mutation CreateNode($input: AdminNodeCreateInput!) {
      adminNodeCreate(input: $input) {
        token
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const RotateNode = graphql(
  `
    mutation RotateNode($input: AdminReasonInput!) {
      adminNodeTokenRotate(input: $input) {
        token
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export type AdminNode = ResultOf<typeof NodeFields>;
