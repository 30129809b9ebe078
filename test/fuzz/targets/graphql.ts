/** GraphQL documents: reading, validating and measuring them throws only GraphQL errors and ends soon. */
import { readFileSync } from 'node:fs';
import { GraphQLError, buildSchema, parse, validate } from 'graphql';
import type { DocumentNode } from 'graphql';
import { TOKENS_MAX, measureOperation } from '../../../control-plane/graphql/graphql-limits.ts';
import { demand } from '../target.ts';
import type { FuzzTarget } from '../target.ts';

const SCHEMA = new URL('../../../control-plane/schema.graphql', import.meta.url);
const schema = buildSchema(readFileSync(SCHEMA, 'utf8'));

export const target: FuzzTarget = {
  run(input) {
    const document = parsed(input.toString('utf8'));
    if (!document || validate(schema, document).length > 0) return;
    const { cost, errors } = measureOperation({ schema, document, variables: { a: input.length } });
    demand(Number.isFinite(cost) && cost >= 1, () => `a cost is no finite number: ${cost}`);
    for (const error of errors) demand(error instanceof GraphQLError, 'an error is no GraphQL error');
  },
  seeds: [
    '{ __typename }',
    'query Q($a: Int!) { catalog(first: $a) { edges { node { id } } pageInfo { hasNextPage } } }',
    'query Q($a: Int!) { admin { users(first: 5) { edges { cursor } } pools(first: $a) { __typename } } }',
    '{ viewer { ...A } } fragment A on User { id ...B } fragment B on User { email }',
    '{ a: viewer { id } ... on Query { viewer { id } } __schema { types { name fields { name } } } }',
    'mutation { signOut { __typename } }',
    'subscription { adminNodeUpdated { id } }',
    '{ node(id: "a") { id ... on User { email } ... @include(if: true) { id } } }',
  ],
  tokens: [
    '{ ',
    ' }',
    '...A',
    'fragment A on User ',
    '(first: 100)',
    '(first: -1)',
    '@skip(if: $a)',
    'a: ',
    '"""',
  ],
};

function parsed(text: string): DocumentNode | undefined {
  try {
    return parse(text, { maxTokens: TOKENS_MAX });
  } catch (error) {
    if (error instanceof GraphQLError) return undefined;
    throw error;
  }
}
