/** GraphQL operations of the pages of dedicated pools. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { PageFields, UserErrorFields } from '../answer-fields.ts';
import { StorefrontFields } from './storefront-documents.ts';

export const PoolFields = graphql(`
  fragment PoolFields on Pool {
    id
    name
    subdomain
    baseUrl
    state
    rpmCap
    rpmNow
    rpmPeak24h
    throttled24h
    startsAt
    endsAt
    autoRenew
    version
    models {
      modelName
      frozenAt
      currentModel {
        id
      }
    }
    allKeys: keys(first: 1) {
      totalCount
    }
  }
`);

export const PoolsQuery = graphql(
  `
    query Pools($first: Int!, $after: String, $before: String) {
      viewer {
        id
        wallet {
          id
          cash
        }
        pools(first: $first, after: $after, before: $before) {
          nodes {
            ...PoolFields
          }
          pageInfo {
            ...PageFields
          }
          totalCount
        }
      }
      poolStorefront {
        ...StorefrontFields
      }
      baseAddress
    }
  `,
  [PoolFields, StorefrontFields, PageFields],
);

export const PoolChanges = graphql(
  `
    subscription PoolChanges {
      poolUpdated {
        ...PoolFields
        periods {
          id
          number
          startsAt
          endsAt
          paid
          giftGranted
          refunded
        }
      }
    }
  `,
  [PoolFields],
);

export const PoolRate = graphql(`
  query PoolRate($id: ID!) {
    pool(id: $id) {
      id
      rpmNow
      rpmPeak24h
      throttled24h
    }
  }
`);

export const SubdomainQuery = graphql(`
  query Subdomain($subdomain: String!) {
    subdomainAvailability(subdomain: $subdomain) {
      subdomain
      available
      reason
      suggestion
    }
  }
`);

const QuoteFields = graphql(`
  fragment QuoteFields on PoolQuote {
    id
    lines {
      label
      quantity
      unitPrice
      amount
    }
    total
    giftCredit
    rpmCap
    periodDays
    startsAt
    endsAt
    validSeconds
    payableFrom
    shortfall
  }
`);

export const CreateQuote = graphql(
  `
    mutation CreateQuote($input: PoolQuoteInput!) {
      poolQuoteCreate(input: $input) {
        quote {
          ...QuoteFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [QuoteFields, UserErrorFields],
);

const PaidFields = graphql(
  `
    fragment PaidFields on PoolPurchasePayload {
      pool {
        ...PoolFields
        periods {
          id
        }
      }
      wallet {
        id
        cash
        gift
        held
        available
      }
      userErrors {
        ...UserErrorFields
      }
    }
  `,
  [PoolFields, UserErrorFields],
);

export const PurchasePool = graphql(
  `
    mutation PurchasePool($input: PoolPurchaseInput!) {
      poolPurchase(input: $input) {
        ...PaidFields
      }
    }
  `,
  [PaidFields],
);

export const RenewPool = graphql(
  `
    mutation RenewPool($input: PoolRenewInput!) {
      poolRenew(input: $input) {
        ...PaidFields
      }
    }
  `,
  [PaidFields],
);

export const UpdatePool = graphql(
  `
    mutation UpdatePool($input: PoolUpdateInput!) {
      poolUpdate(input: $input) {
        pool {
          id
          name
          autoRenew
          version
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export type Pool = ResultOf<typeof PoolFields>;
export type Quote = ResultOf<typeof QuoteFields>;
