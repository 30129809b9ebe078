/** The GraphQL query of the administrators' overview. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { TimingFields } from '../../usage/times-documents.ts';

const OverviewSums = graphql(`
  fragment OverviewSums on UsageTotals {
    cost
    requests
    failed
    inputTokens
    outputTokens
  }
`);

export const OverviewQuery = graphql(
  `
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
          }
          series {
            at
            key
            totals {
              ...OverviewSums
            }
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
            }
          }
        }
        users: usageSummary(range: $day, groupBy: [USER]) {
          groups {
            key
            label
            totals {
              ...OverviewSums
            }
          }
        }
        providers {
          id
          name
          demo
          enabled
          health {
            status
          }
          routes {
            id
            enabled
          }
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
          }
          jobs {
            name
            lastError
          }
        }
      }
      catalog(first: 1) {
        totalCount
      }
    }
  `,
  [OverviewSums, TimingFields],
);

export type Overview = NonNullable<ResultOf<typeof OverviewQuery>['admin']>;
