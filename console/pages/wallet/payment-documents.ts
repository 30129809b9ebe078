/** GraphQL operations of top-ups. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { UserErrorFields } from '../answer-fields.ts';

/** A top-up, for the list and for its live state. */
export const TopUpFields = graphql(`
  fragment TopUpFields on TopUp {
    id
    method
    state
    automatic
    playMoney
    amount
    credited
    refunded
    checkoutUrl
    receiptUrl
    failure
    createdAt
    deposit {
      chainName
      asset
      confirmations
      requiredConfirmations
      explorerUrl
    }
  }
`);

export const AddressFields = graphql(`
  fragment AddressFields on DepositAddress {
    id
    chainId
    chainName
    asset
    address
    qrPayload
    minDeposit
    requiredConfirmations
  }
`);

export const AutoTopUpFields = graphql(`
  fragment AutoTopUpFields on AutoTopUp {
    enabled
    threshold
    amount
    monthlyCap
    spentThisMonth
    inFlight
    failures
    offReason
  }
`);

export const PaymentsQuery = graphql(
  `
    query Payments {
      paymentOptions {
        methods
        card {
          presets
          amountMin
          amountMax
          dailyMax
          playMoney
        }
        crypto {
          chainId
          chainName
          asset
          minDeposit
          requiredConfirmations
        }
      }
      viewer {
        id
        wallet {
          id
          savedCard {
            brand
            last4
          }
          autoTopUp {
            ...AutoTopUpFields
          }
          topUps(first: 10) {
            nodes {
              ...TopUpFields
            }
          }
        }
      }
    }
  `,
  [TopUpFields, AutoTopUpFields],
);

export const TopUpQuery = graphql(
  `
    query TopUp($id: ID!) {
      topUp(id: $id) {
        ...TopUpFields
      }
    }
  `,
  [TopUpFields],
);

export const TopUpChanges = graphql(
  `
    subscription TopUpChanges($id: ID!) {
      topUpUpdated(id: $id) {
        ...TopUpFields
      }
    }
  `,
  [TopUpFields],
);

export const BeginTopUp = graphql(
  `
    mutation BeginTopUp($input: TopUpCardInput!) {
      topUpCardCreate(input: $input) {
        topUp {
          ...TopUpFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [TopUpFields, UserErrorFields],
);

export const MakeAddress = graphql(
  `
    mutation MakeAddress($input: DepositAddressInput!) {
      depositAddressCreate(input: $input) {
        address {
          ...AddressFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [AddressFields, UserErrorFields],
);

export const SetAutoTopUp = graphql(
  `
    mutation SetAutoTopUp($input: AutoTopUpInput!) {
      autoTopUpSet(input: $input) {
        wallet {
          id
          autoTopUp {
            ...AutoTopUpFields
          }
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [AutoTopUpFields, UserErrorFields],
);

export const RemoveCard = graphql(
  `
    mutation RemoveCard {
      savedCardRemove {
        wallet {
          id
          savedCard {
            brand
            last4
          }
          autoTopUp {
            ...AutoTopUpFields
          }
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [AutoTopUpFields, UserErrorFields],
);

export type Payments = ResultOf<typeof PaymentsQuery>;
export type PaymentOptions = Payments['paymentOptions'];
export type PaymentWallet = NonNullable<Payments['viewer']>['wallet'];
export type TopUp = ResultOf<typeof TopUpFields>;
