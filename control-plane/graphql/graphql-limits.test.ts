/** Tests that fields of the first level are counted, also inside fragments. */
import { buildSchema, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { HASH_COST, MUTATIONS_PER_OPERATION, ROOT_FIELDS_MAX } from '../limits.ts';
import { measureOperation } from './graphql-limits.ts';

const schema = buildSchema(`
  type Query { a: Int b: Query serviceStatus: Query }
  type Mutation { change: Int signIn: Int reauthenticate: Int }
`);

const measure = (source: string) => measureOperation({ schema, document: parse(source) });
const errorsOf = (source: string) => measure(source).errors.map(({ message }) => message.split(':')[0]);
const repeat = (text: string, times: number) => Array.from({ length: times }, () => text).join(' ');

const TOO_MANY = 'The operation has too many mutations';
const TOO_MANY_HASHES = 'The operation has too many mutations that check a password';

describe('the number of root fields', () => {
  it.each([
    ['directly', (fields: string) => `{ ${fields} }`],
    ['in an inline fragment', (fields: string) => `{ ... { ${fields} } }`],
    ['in a typed inline fragment', (fields: string) => `{ ... on Query { ... on Query { ${fields} } } }`],
    ['in a fragment', (fields: string) => `{ ...f } fragment f on Query { ${fields} }`],
    [
      'in nested fragments',
      (fields: string) => `{ ...f } fragment f on Query { ...g } fragment g on Query { ${fields} }`,
    ],
  ])('is counted %s', (_where, put) => {
    expect(errorsOf(put(repeat('a', ROOT_FIELDS_MAX)))).toEqual([]);
    expect(errorsOf(put(repeat('a', ROOT_FIELDS_MAX + 1)))).toEqual([
      'The operation has too many root fields',
    ]);
  });

  it('is counted for each use of a fragment, and does not include deeper fields', () => {
    const half = Math.ceil((ROOT_FIELDS_MAX + 1) / 2);
    const fragment = `fragment f on Query { ${repeat('a', half)} }`;
    expect(errorsOf(`{ ...f } ${fragment}`)).toEqual([]);
    expect(errorsOf(`{ ...f ...f } ${fragment}`)).toHaveLength(1);
    expect(errorsOf(`{ b { ${repeat('a', ROOT_FIELDS_MAX + 1)} } }`)).toEqual([]);
  });
});

describe('the public status', () => {
  it('costs as much as a page of the catalog, so that an operation cannot repeat it often', () => {
    expect(measure('{ serviceStatus { b { a } } }').cost).toBeGreaterThan(
      50 * measure('{ b { b { a } } }').cost,
    );
  });
});

describe('mutations', () => {
  it('are bounded per operation, also in fragments', () => {
    const many = repeat('change', MUTATIONS_PER_OPERATION);
    expect(errorsOf(`mutation { ${many} }`)).toEqual([]);
    expect(errorsOf(`mutation { change ${many} }`)).toEqual([TOO_MANY]);
    expect(errorsOf(`mutation { change ...f } fragment f on Mutation { ${many} }`)).toEqual([TOO_MANY]);
  });

  it('are allowed once if they check a password, also by aliases and in fragments, and cost more', () => {
    expect(measure('mutation { signIn }').cost).toBe(HASH_COST + 1);
    expect(errorsOf('mutation { signIn change }')).toEqual([]);
    expect(errorsOf('mutation { a: signIn b: reauthenticate }')).toEqual([TOO_MANY_HASHES]);
    expect(errorsOf('mutation { ...f ...f } fragment f on Mutation { signIn }')).toEqual([TOO_MANY_HASHES]);
    expect(errorsOf('mutation { ... { ...f } signIn } fragment f on Mutation { signIn }')).toHaveLength(1);
  });
});
