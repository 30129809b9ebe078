/** GraphQL operations of the health page. */
import { graphql, type ResultOf } from '../../../graphql.ts';

export const HealthQuery = graphql(`
  query Health {
    admin {
      personalIntelligenceSettings {
        monthlyBudget
        spentThisMonth
      }
      personalIntelligenceHealth {
        waiting
        postponed
        quarantined
        ageSeconds
      }
      systemHealth {
        status
        database
        dataPlane
        paymentProvider
        chains
        personalIntelligence
        secrets {
          status
          total
          remaining
          unreadable
        }
        usageArchive {
          status
          target
          pending
          files
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

export type AdminHealth = NonNullable<ResultOf<typeof HealthQuery>['admin']>;
export type SystemHealth = AdminHealth['systemHealth'];
export type ScheduledJob = SystemHealth['jobs'][number];
