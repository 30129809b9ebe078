/** What is asked of a period of a pool, by its owner and by administrators. */
import { graphql } from '../../graphql.ts';

export const PeriodFields = graphql(`
  fragment PeriodFields on PoolPeriod {
    id
    number
    startsAt
    endsAt
    paid
    giftGranted
    refunded
  }
`);
