/** GraphQL operations of the administrators' page of incidents. */
import { graphql } from '../../../graphql.ts';
import { UserErrorFields } from '../../answer-fields.ts';
import { IncidentFields } from '../../status/documents.ts';

export const IncidentsQuery = graphql(
  `
    query Incidents {
      admin {
        incidents {
          ...IncidentFields
        }
      }
      catalog(first: 100) {
        nodes {
          id
          name
        }
      }
    }
  `,
  [IncidentFields],
);

export const CreateIncident = graphql(
  `
    mutation CreateIncident($input: AdminIncidentInput!) {
      adminIncidentCreate(input: $input) {
        incident {
          ...IncidentFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [IncidentFields, UserErrorFields],
);

export const UpdateIncident = graphql(
  `
    mutation UpdateIncident($input: AdminIncidentUpdateInput!) {
      adminIncidentUpdate(input: $input) {
        incident {
          ...IncidentFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [IncidentFields, UserErrorFields],
);

export const DeleteIncident = graphql(
  `
    mutation DeleteIncident($input: AdminReasonInput!) {
      adminIncidentDelete(input: $input) {
        ok
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);
