/** GraphQL operations of times of requests. */
import { graphql } from '../../graphql.ts';
import { PERCENTILE_FIELDS_TEXT, TIMING_FIELDS_TEXT } from './times-text.ts';

const PercentileFields = graphql(PERCENTILE_FIELDS_TEXT);

export const TimingFields = graphql(TIMING_FIELDS_TEXT, [PercentileFields]);

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
