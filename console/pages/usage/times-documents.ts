/** GraphQL operations of times of requests. */
import { graphql } from '../../graphql.ts';

const PercentileFields = graphql(`
  fragment PercentileFields on TimePercentiles {
    requests
    p50Ms
    p95Ms
    p99Ms
  }
`);

export const TimingFields = graphql(
  `
    fragment TimingFields on RequestTimings {
      ttft {
        ...PercentileFields
      }
      duration {
        ...PercentileFields
      }
    }
  `,
  [PercentileFields],
);

export const TimesQuery = graphql(
  `
    query UsageTimes(
      $range: DateRange!
      $filter: UsageFilter
      $groupBy: [UsageDimension!]!
      $bucket: UsageBucket!
    ) {
      viewer {
        id
        usageSummary(range: $range, filter: $filter, groupBy: $groupBy, bucket: $bucket) {
          groups {
            key
            label
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
            groups {
              key
              timings {
                ...TimingFields
              }
            }
          }
        }
      }
    }
  `,
  [TimingFields],
);
