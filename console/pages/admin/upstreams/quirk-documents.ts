/** GraphQL operations of quirks, scheduled probes, and the models that an upstream offers. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { UserErrorFields } from '../../answer-fields.ts';

export const QuirkFields = graphql(`
  fragment QuirkFields on UpstreamQuirk {
    kind
    member
    other
    value
    min
    max
  }
`);

export type Quirk = ResultOf<typeof QuirkFields>;

export const SetQuirks = graphql(
  `
    mutation SetQuirks($input: AdminQuirksInput!) {
      adminQuirksSet(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const SetProbing = graphql(
  `
    mutation SetProbing($input: AdminProviderProbingInput!) {
      adminProviderProbingSet(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const ReadModels = graphql(
  `
    mutation ReadModels($input: AdminProviderModelsInput!) {
      adminProviderModels(input: $input) {
        models {
          name
          routed
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const CreateRoutes = graphql(
  `
    mutation CreateRoutes($input: AdminRoutesInput!) {
      adminRoutesCreate(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);
