/** GraphQL operations of the health page. */
import { graphql, type ResultOf } from '../../../graphql.ts';

export const HealthQuery = graphql(`
  query Health {
    admin {
      systemHealth {
        status
        database
        dataPlane
        paymentProvider
        chains
        secrets {
          status
          total
          remaining
          unreadable
        }
        settlementAlarms24h
        nodes {
          id
          state
          retired
        }
        jobs {
          name
          lastRunAt
          lastDurationMs
          lastError
          lastFailedAt
          nextRunAt
        }
      }
    }
  }
`);

export type SystemHealth = NonNullable<ResultOf<typeof HealthQuery>['admin']>['systemHealth'];
export type ScheduledJob = SystemHealth['jobs'][number];
