/** Text and variables of the overview's query, for the early data script. */
import type { FirstOperation } from '../../shell/first.ts';
import { spanOf } from '../../usage/span.ts';
import { PERCENTILE_FIELDS_TEXT, TIMING_FIELDS_TEXT } from '../../usage/times-text.ts';

export const OVERVIEW_SUMS_TEXT = `
  fragment OverviewSums on UsageTotals {
    cost
    requests
    failed
    inputTokens
    outputTokens
    __typename
  }
`;

export const OVERVIEW_QUERY_TEXT = `
  query Overview($day: DateRange!) {
    admin {
      models: usageSummary(range: $day, groupBy: [MODEL], bucket: HOUR) {
        asOf
        totals {
          ...OverviewSums
        }
        previousTotals {
          ...OverviewSums
        }
        groups {
          key
          label
          totals {
            ...OverviewSums
          }
          __typename
        }
        series {
          at
          key
          totals {
            ...OverviewSums
          }
          __typename
        }
        timings {
          totals {
            ...TimingFields
          }
          series {
            at
            timings {
              ...TimingFields
            }
            __typename
          }
          __typename
        }
        __typename
      }
      users: usageSummary(range: $day, groupBy: [USER]) {
        groups {
          key
          label
          totals {
            ...OverviewSums
          }
          __typename
        }
        __typename
      }
      providers {
        id
        name
        demo
        enabled
        health {
          status
          __typename
        }
        routes {
          id
          enabled
          __typename
        }
        __typename
      }
      systemHealth {
        status
        database
        dataPlane
        paymentProvider
        chains
        settlementAlarms24h
        nodes {
          id
          name
          state
          retired
          inflight
          rps
          __typename
        }
        jobs {
          name
          lastError
          __typename
        }
        __typename
      }
      __typename
    }
    catalog(first: 1) {
      totalCount
      __typename
    }
  }
`;

/** The first query of the page. */
export function first(now: number): FirstOperation[] {
  const { from, to } = spanOf({ days: '1' }, now);
  const fragments = OVERVIEW_SUMS_TEXT + TIMING_FIELDS_TEXT + PERCENTILE_FIELDS_TEXT;
  return [{ text: OVERVIEW_QUERY_TEXT + fragments, variables: { day: { from, to } } }];
}
