/** GraphQL operations of blockchains, their tokens, and extended public keys. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { UserErrorFields } from '../../answer-fields.ts';

export const ChainsQuery = graphql(`
  query Chains {
    admin {
      chains {
        chainId
        name
        enabled
        confirmations
        needsFinality
        explorerUrl
        rpcHosts
        scannedBlock
        newestBlock
        readAt
        trouble
        troubleDetail
        troubleSince
        frozenAt
        frozenReason
        frozenBlock
        tokens {
          contract
          symbol
          decimals
          minimum
          enabled
        }
      }
      depositKeys {
        id
        fingerprint
        active
        addresses
        createdAt
      }
    }
  }
`);

export const SetChain = graphql(
  `
    mutation SetChain($input: AdminChainInput!) {
      adminChainSet(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const ResumeChain = graphql(
  `
    mutation ResumeChain($input: AdminChainResumeInput!) {
      adminChainResume(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const SetToken = graphql(
  `
    mutation SetToken($input: AdminChainTokenInput!) {
      adminChainTokenSet(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const SetDepositKey = graphql(
  `
    mutation SetDepositKey($input: AdminDepositKeyInput!) {
      adminDepositKeySet(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

type Admin = NonNullable<ResultOf<typeof ChainsQuery>['admin']>;
export type Chain = Admin['chains'][number];
export type Token = Chain['tokens'][number];
export type DepositKey = Admin['depositKeys'][number];

/** The dialog that is open. Without a chain or a token, it adds one. */
export type ChainTask =
  | { kind: 'chain'; chain?: Chain }
  | { kind: 'resume'; chain: Chain }
  | { kind: 'token'; chain: Chain; token?: Token }
  | { kind: 'key' };
