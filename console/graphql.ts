/** Typed GraphQL documents: the result type of a document has only the fields that it selects. */
import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './graphql-env.d.ts';

export type { ResultOf, VariablesOf } from 'gql.tada';

/** Parses the text of a document into a typed one. Money stays a decimal string, dates RFC 3339 strings. */
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
