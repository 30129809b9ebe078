/** GraphQL operations of the administrators' page of Personal Intelligence. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { UserErrorFields } from '../../answer-fields.ts';

const SettingsFields = graphql(`
  fragment SettingsFields on PersonalIntelligenceSettings {
    modelName
    monthlyBudget
    spentThisMonth
    providerIds
  }
`);

export const AdminIntelligenceQuery = graphql(
  `
    query AdminIntelligence {
      admin {
        personalIntelligenceSettings {
          ...SettingsFields
        }
        personalIntelligenceHealth {
          waiting
          postponed
          quarantined
          ageSeconds
          users
        }
        providers {
          id
          name
        }
      }
      catalog(first: 100) {
        nodes {
          id
          name
          endpoints {
            family
          }
        }
      }
    }
  `,
  [SettingsFields],
);

export const SetIntelligence = graphql(
  `
    mutation SetIntelligence($input: AdminPersonalIntelligenceInput!) {
      adminPersonalIntelligenceSet(input: $input) {
        settings {
          ...SettingsFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [SettingsFields, UserErrorFields],
);

type Answer = ResultOf<typeof AdminIntelligenceQuery>;
export type AdminIntelligence = NonNullable<Answer['admin']>;
export type ReadingModel = Answer['catalog']['nodes'][number];
