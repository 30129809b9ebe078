/** GraphQL operations of the page of one user. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { UserFields } from './documents.ts';

export const UserQuery = graphql(
  `
    query OneUser($id: ID!, $month: DateRange!) {
      admin {
        user(id: $id) {
          ...UserFields
          emailVerifiedAt
          locale
          timeZone
          securityFactors {
            hasPassword
            totpEnabled
            passkeys {
              id
            }
            linkedIdentities {
              id
            }
          }
          policyAcceptances {
            acceptedAt
            version {
              id
              version
            }
          }
          sessions(first: 20) {
            nodes {
              id
              createdAt
              lastSeenAt
              ip
              userAgent
            }
            totalCount
          }
          usageSummary(range: $month, groupBy: [MODEL]) {
            totals {
              requests
              cost
            }
            groups {
              key
              label
              totals {
                requests
                cost
              }
            }
          }
        }
      }
    }
  `,
  [UserFields],
);

export type UserDetail = NonNullable<NonNullable<ResultOf<typeof UserQuery>['admin']>['user']>;
export type UserSession = UserDetail['sessions']['nodes'][number];
