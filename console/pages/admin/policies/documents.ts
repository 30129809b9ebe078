/** GraphQL operations of the administrators' privacy policy page. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { UserErrorFields } from '../../answer-fields.ts';

export const PoliciesQuery = graphql(`
  query Policies {
    admin {
      policyVersions {
        id
        version
        effectiveAt
        changeSummary
        markdown
        sha256
      }
    }
  }
`);

export const PublishPolicy = graphql(
  `
    mutation PublishPolicy($input: AdminPolicyInput!) {
      adminPolicyPublish(input: $input) {
        policy {
          id
          version
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export type PolicyRow = NonNullable<ResultOf<typeof PoliciesQuery>['admin']>['policyVersions'][number];
