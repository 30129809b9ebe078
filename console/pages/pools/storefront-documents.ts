/** GraphQL operations of the storefront. */
import { graphql, type ResultOf } from '../../graphql.ts';

export const StorefrontFields = graphql(`
  fragment StorefrontFields on PoolStorefront {
    state
    message
    basePrice
    extraModelPrice
    includedModels
    maxModels
    rpmCap
    giftCredit
    periodDays
    poolRequestsFree
    changedAt
    version
    offeredModels {
      id
      name
    }
  }
`);

export const StorefrontChanges = graphql(
  `
    subscription StorefrontChanges {
      storefrontUpdated {
        ...StorefrontFields
      }
    }
  `,
  [StorefrontFields],
);

export type Storefront = ResultOf<typeof StorefrontFields>;
