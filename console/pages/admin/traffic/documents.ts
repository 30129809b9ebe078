/** The GraphQL query of the traffic of upstreams and nodes. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { TimingFields } from '../../usage/times-documents.ts';

const TrafficFields = graphql(
  `
    fragment TrafficFields on TrafficFigures {
      requests
      failed
      timings {
        ...TimingFields
      }
      extra {
        requests
        withoutCost
        cost
      }
    }
  `,
  [TimingFields],
);

export const TrafficQuery = graphql(
  `
    query Traffic($subject: TrafficSubject!, $ids: [ID!], $range: DateRange!, $bucket: UsageBucket!) {
      admin {
        traffic(subject: $subject, ids: $ids, range: $range, bucket: $bucket) {
          totals {
            ...TrafficFields
          }
          series {
            at
            subjectId
            figures {
              ...TrafficFields
            }
          }
          rows {
            subjectId
            name
            figures {
              ...TrafficFields
            }
          }
          extraByModel {
            modelName
            extra {
              requests
              withoutCost
              cost
            }
          }
        }
      }
    }
  `,
  [TrafficFields],
);

export type Traffic = NonNullable<ResultOf<typeof TrafficQuery>['admin']>['traffic'];
export type Figures = ResultOf<typeof TrafficFields>;
export type TrafficRow = Traffic['rows'][number];
