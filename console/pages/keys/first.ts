/** Texts and variables of the key list's first query, for the early data script. */
import { type FirstOperation, PAGE_FIELDS_TEXT } from '../shell/first.ts';

export const KEYS_PER_PAGE = 50;

export const DAY_MS = 86_400_000;
/** The days of `lastWeek`. */
export const DAYS = 7;

/** From the start of the first day to the end of today, in UTC; constant during a day. */
export function lastWeek(now: number) {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  return {
    from: new Date(today - (DAYS - 1) * DAY_MS).toISOString(),
    to: new Date(today + DAY_MS).toISOString(),
  };
}

export const KEY_FIELDS_TEXT = `
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
      __typename
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
      __typename
    }
    version
    __typename
  }
`;

export const KEYS_QUERY_TEXT = `
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
                __typename
              }
              __typename
            }
            __typename
          }
          __typename
        }
        pageInfo {
          ...PageFields
        }
        totalCount
        __typename
      }
      __typename
    }
    baseAddress
  }
`;

/** The first query of the list without filters. */
export function first(now: number): FirstOperation[] {
  const text = KEYS_QUERY_TEXT + KEY_FIELDS_TEXT + PAGE_FIELDS_TEXT;
  const list = { after: null, before: null, filter: {}, first: KEYS_PER_PAGE, orderBy: null };
  return [{ text, variables: { ...list, week: lastWeek(now) } }];
}
