/** GraphQL operations of the status page, which needs no sign-in. */
import { graphql, type ResultOf } from '../../graphql.ts';

export const IncidentFields = graphql(`
  fragment IncidentFields on Incident {
    id
    kind
    title
    state
    modelNames
    families
    startsAt
    endsAt
    resolvedAt
    version
    updates {
      id
      at
      state
      message
    }
  }
`);

export const StatusQuery = graphql(
  `
    query Status {
      serviceStatus {
        asOf
        from
        models {
          name
          share
          days
        }
        families {
          family
          share
          days
        }
        incidents {
          ...IncidentFields
        }
      }
    }
  `,
  [IncidentFields],
);

export type Incident = ResultOf<typeof IncidentFields>;
export type Status = ResultOf<typeof StatusQuery>['serviceStatus'];
