/** What the key pages ask the service. */
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
    query Keys($first: Int!, $after: String, $filter: ApiKeyFilter, $week: DateRange!) {
      viewer {
        id
        allowedGroups
        apiKeys(first: $first, after: $after, filter: $filter) {
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

/** Pools of the account that may have keys, for filters and for new keys. */
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

/** A key of the list, with its last week. */
export type ListedKey = KeyConnection['nodes'][number];

/**
 * The dialog that is open over a list, and the key it is about. A new key is one of the main domain, or of
 * the pool that is named.
 */
export type KeyDialog =
  | { kind: 'create'; poolId?: string }
  | { kind: 'ready' | 'edit' | 'leaked' | 'rotate' | 'grace'; key: Key };
