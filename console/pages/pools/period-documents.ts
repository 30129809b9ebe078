/** The fields of a pool's period, for its owner and for administrators. */
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
