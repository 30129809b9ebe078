/** Texts and variables of the usage page's first queries, for the early data script. */
import { type FirstOperation, PAGE_FIELDS_TEXT } from '../shell/first.ts';
import { rangeBefore, spanOf } from './span.ts';

export const ROWS_PER_PAGE = 50;

export const ENTRY_FIELDS_TEXT = `
  fragment EntryFields on UsageEntry {
    id
    requestId
    modelName
    keyId
    key {
      id
      name
      __typename
    }
    poolId
    source
    inputTokens
    cachedTokens
    outputTokens
    cost
    status
    httpStatus
    latencyMs
    ttftMs
    ip
    createdAt
    __typename
  }
`;

export const USAGE_QUERY_TEXT = `
  query Usage(
    $first: Int!
    $after: String
    $before: String
    $filter: UsageFilter
    $orderBy: UsageOrderInput
  ) {
    viewer {
      id
      usage(first: $first, after: $after, before: $before, filter: $filter, orderBy: $orderBy) {
        nodes {
          ...EntryFields
        }
        pageInfo {
          ...PageFields
        }
        __typename
      }
      __typename
    }
  }
`;

export const SUM_FIELDS_TEXT = `
  fragment SumFields on UsageTotals {
    cost
    requests
    failed
    inputTokens
    outputTokens
    cachedTokens
    __typename
  }
`;

export const SUMMARY_QUERY_TEXT = `
  query UsageSums(
    $range: DateRange!
    $before: DateRange!
    $filter: UsageFilter
    $groupBy: [UsageDimension!]!
    $bucket: UsageBucket!
  ) {
    viewer {
      id
      now: usageSummary(range: $range, filter: $filter, groupBy: $groupBy, bucket: $bucket) {
        asOf
        totals {
          ...SumFields
        }
        previousTotals {
          ...SumFields
        }
        groups {
          key
          label
          totals {
            ...SumFields
          }
          __typename
        }
        series {
          at
          key
          totals {
            ...SumFields
          }
          __typename
        }
        __typename
      }
      before: usageSummary(range: $before, filter: $filter, bucket: $bucket) {
        series {
          at
          key
          totals {
            ...SumFields
          }
          __typename
        }
        __typename
      }
      __typename
    }
  }
`;

/** The first queries of the page without filters: the log, and the sums of the charts. */
export function first(now: number): FirstOperation[] {
  const { bucket, ...range } = spanOf({}, now);
  return [
    {
      text: USAGE_QUERY_TEXT + ENTRY_FIELDS_TEXT + PAGE_FIELDS_TEXT,
      variables: { after: null, before: null, filter: {}, first: ROWS_PER_PAGE, orderBy: null },
    },
    {
      text: SUMMARY_QUERY_TEXT + SUM_FIELDS_TEXT,
      variables: { before: rangeBefore(range), bucket, filter: {}, groupBy: ['MODEL'], range },
    },
  ];
}
