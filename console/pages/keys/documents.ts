/** GraphQL operations of the key pages. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { PageFields } from '../answer-fields.ts';

export const KeyFields = graphql(`
  fragment KeyFields on ApiKey {
    id
    name
    prefix
    suffix
    state
    disabledReason
    group
    groupRatio
    baseUrl
    pool {
      id
      name
      subdomain
    }
    expiresAt
    revealedAt
    lastUsedAt
    lastUsedIp
    spentThisMonth
    spendLimit
    rotation {
      pendingReveal
      previousSuffix
      graceEndsAt
      previousLastUsedAt
    }
    version
  }
`);

export const KeysQuery = graphql(
  `
    query Keys(
      $first: Int!
      $after: String
      $before: String
      $filter: ApiKeyFilter
      $orderBy: ApiKeyOrder
      $week: DateRange!
    ) {
      viewer {
        id
        allowedGroups
        apiKeys(first: $first, after: $after, before: $before, filter: $filter, orderBy: $orderBy) {
          nodes {
            ...KeyFields
            usageSummary(range: $week, bucket: DAY) {
              series {
                at
                totals {
                  requests
                }
              }
            }
          }
          pageInfo {
            ...PageFields
          }
          totalCount
        }
      }
      baseAddress
    }
  `,
  [KeyFields, PageFields],
);

/** The account's pools, for filters and for new keys. */
export const KeyPoolsQuery = graphql(`
  query KeyPools {
    viewer {
      id
      pools(first: 100) {
        nodes {
          id
          name
          subdomain
          state
        }
      }
    }
  }
`);

export const KeyChanges = graphql(
  `
    subscription KeyChanges {
      apiKeyUpdated {
        ...KeyFields
      }
    }
  `,
  [KeyFields],
);

export type Key = ResultOf<typeof KeyFields>;
export type KeyConnection = NonNullable<ResultOf<typeof KeysQuery>['viewer']>['apiKeys'];

/** A key of the list, with its usage in the last week. */
export type ListedKey = KeyConnection['nodes'][number];

/** The dialog that is open, and its key. A new key is for the main domain, unless `poolId` names a pool. */
export type KeyDialog =
  | { kind: 'create'; poolId?: string }
  | { kind: 'connect' | 'ready' | 'edit' | 'leaked' | 'rotate' | 'grace'; key: Key };
