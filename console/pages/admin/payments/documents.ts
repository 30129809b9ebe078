/** GraphQL operations of the administrators' lists of top-ups and corrections, and of one top-up. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { PageFields } from '../../answer-fields.ts';
import { TopUpFields } from '../../wallet/payment-documents.ts';

export const AdminTopUpFields = graphql(
  `
    fragment AdminTopUpFields on TopUp {
      ...TopUpFields
      issue
      user {
        id
        email
      }
    }
  `,
  [TopUpFields],
);

export const TopUpsQuery = graphql(
  `
    query AdminTopUps(
      $first: Int!
      $after: String
      $before: String
      $orderBy: TopUpOrder
      $method: TopUpMethod
      $states: [TopUpState!]
      $stuck: Boolean
      $userId: ID
    ) {
      admin {
        topUps(
          first: $first
          after: $after
          before: $before
          orderBy: $orderBy
          method: $method
          states: $states
          stuck: $stuck
          userId: $userId
        ) {
          nodes {
            ...AdminTopUpFields
          }
          pageInfo {
            ...PageFields
          }
        }
      }
    }
  `,
  [AdminTopUpFields, PageFields],
);

export const AdminTopUpQuery = graphql(
  `
    query AdminTopUp($id: ID!) {
      topUp(id: $id) {
        ...AdminTopUpFields
        updatedAt
        expiresAt
        user {
          id
          wallet {
            id
            cash
            gift
          }
        }
        refunds {
          id
          amount
          status
          reason
          createdAt
        }
        disputes {
          id
          amount
          status
          createdAt
        }
        deposit {
          address
          blockNumber
          logIndex
          txHash
        }
      }
    }
  `,
  [AdminTopUpFields],
);

export const CorrectionsQuery = graphql(`
  query PaymentCorrections {
    admin {
      paymentCorrections {
        id
        detail
        state
        amount
        foundAt
        topUp {
          id
          user {
            id
            email
          }
        }
      }
    }
  }
`);

export type AdminTopUp = ResultOf<typeof AdminTopUpFields>;
export type TopUpDetail = NonNullable<ResultOf<typeof AdminTopUpQuery>['topUp']>;
export type Refund = TopUpDetail['refunds'][number];
export type Dispute = TopUpDetail['disputes'][number];
type Corrections = NonNullable<ResultOf<typeof CorrectionsQuery>['admin']>;
export type Correction = Corrections['paymentCorrections'][number];
