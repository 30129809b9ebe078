/** Documents typed from the schema: fields that a document does not ask for do not exist for its page. */
import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './graphql-env.d.ts';

export type { ResultOf, VariablesOf } from 'gql.tada';

/**
 * Turns the text of a document into a typed one. Money and dates stay the decimal and RFC 3339 strings of
 * the wire.
 */
export const graphql = initGraphQLTada<{
  introspection: introspection;
  disableMasking: true;
  scalars: {
    DateTime: string;
    Money: string;
    Decimal: string;
    URL: string;
    EmailAddress: string;
    JSON: unknown;
  };
}>();
