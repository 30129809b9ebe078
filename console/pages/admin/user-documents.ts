/** What the page of one user asks the service. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { KeyFields } from '../keys/documents.ts';
import { LedgerFields } from '../wallet/documents.ts';
import { AuditFields } from './audit-item.tsx';
import { UserFields } from './documents.ts';

export const UserQuery = graphql(
  `
    query OneUser($id: ID!, $filter: AuditFilter, $month: DateRange!) {
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
          apiKeys(first: 20) {
            nodes {
              ...KeyFields
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
        ledger(userId: $id, first: 10) {
          nodes {
            ...LedgerFields
          }
        }
        auditLog(first: 10, filter: $filter) {
          nodes {
            ...AuditFields
          }
        }
      }
    }
  `,
  [UserFields, KeyFields, AuditFields, LedgerFields],
);

export type UserPageData = NonNullable<ResultOf<typeof UserQuery>['admin']>;
export type UserDetail = NonNullable<UserPageData['user']>;
export type UserSession = UserDetail['sessions']['nodes'][number];
export type UserKey = UserDetail['apiKeys']['nodes'][number];
