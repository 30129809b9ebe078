/** GraphQL operations of the access tokens page. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { PageFields, UserErrorFields } from '../answer-fields.ts';

const TokenFields = graphql(`
  fragment TokenFields on AccessToken {
    id
    name
    prefix
    scopes
    createdAt
    expiresAt
    lastUsedAt
    revokedAt
  }
`);

export const TokensQuery = graphql(
  `
    query Tokens($first: Int!, $after: String, $before: String) {
      viewer {
        id
        email
        role
        accessTokens(first: $first, after: $after, before: $before) {
          nodes {
            ...TokenFields
          }
          pageInfo {
            ...PageFields
          }
        }
      }
    }
  `,
  [TokenFields, PageFields],
);

export const CreateToken = graphql(
  `
    mutation CreateToken($input: AccessTokenCreateInput!) {
      accessTokenCreate(input: $input) {
        accessToken {
          ...TokenFields
        }
        secret
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [TokenFields, UserErrorFields],
);

export const RevokeToken = graphql(
  `
    mutation RevokeToken($input: IdInput!) {
      accessTokenRevoke(input: $input) {
        accessToken {
          ...TokenFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [TokenFields, UserErrorFields],
);

export type Token = ResultOf<typeof TokenFields>;
export type Scope = Token['scopes'][number];

/** Scopes that every user can give to a token. */
export const USER_SCOPES = [
  'KEYS_READ',
  'KEYS_WRITE',
  'USAGE_READ',
  'WALLET_READ',
  'WALLET_WRITE',
  'CATALOG_READ',
  'POOLS_READ',
  'POOLS_WRITE',
  'WEBHOOKS_READ',
  'WEBHOOKS_WRITE',
] as const satisfies readonly Scope[];

/** Additional scopes that administrators can give to a token. */
export const ADMIN_SCOPES = [
  'ADMIN_AUDIT_READ',
  'ADMIN_CATALOG',
  'ADMIN_NODES',
  'ADMIN_STOREFRONT',
  'ADMIN_UPSTREAMS',
  'ADMIN_USERS',
  'ADMIN_WALLET',
] as const satisfies readonly Scope[];
