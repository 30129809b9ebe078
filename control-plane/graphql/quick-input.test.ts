/** Input that is converted quickly is the same as GraphQL's, and input that GraphQL refuses is refused. */
import fc from 'fast-check';
import { buildSchema, coerceInputValue } from 'graphql';
import type { GraphQLInputType } from 'graphql';
import { expect, it } from 'vitest';
import { quickConverter } from './quick-input.ts';

const SCHEMA = buildSchema(`
  enum Colour { RED GREEN }
  input Part { size: Int! label: String }
  input Thing {
    id: ID! name: String size: Int! ratio: Float open: Boolean colour: Colour! depth: Int = 3
    parts: [Part!] tags: [String]
  }
  type Query { none: Int }
`);
const VALID = { id: 'a', size: 1, colour: 'RED', parts: [{ size: 2 }], tags: ['x', null] };

function typeOf(name: string): GraphQLInputType {
  const type = SCHEMA.getType(name);
  if (!type) throw new Error(`There is no type ${name}.`);
  return type as GraphQLInputType;
}

/** A value for a member: often a valid one. */
const value = fc.oneof(
  fc.constantFrom<unknown>('RED', 'BLUE', '', null, undefined, 0, 1, 1.5, 2 ** 31, true, Number.NaN),
  fc.constantFrom<unknown>(
    [],
    {},
    [null],
    [{ size: 1, label: 'b' }],
    [{ size: '1' }],
    [{ size: 1, more: 1 }],
  ),
  fc.string(),
  fc.integer(),
);
const member = fc.constantFrom(
  ...['id', 'name', 'size', 'ratio', 'open', 'colour', 'depth', 'parts', 'tags', 'more'],
);

it('gives the result of GraphQL or an error, and an error wherever GraphQL refuses', () => {
  const type = typeOf('Thing');
  const convert = quickConverter(type);
  let same = 0;
  let refused = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(member, value), { maxLength: 4 }), (changes) => {
      const given: Record<string, unknown> = { ...VALID, ...Object.fromEntries(changes) };
      let quick: unknown;
      try {
        quick = convert(given);
      } catch {
        refused += 1;
        return;
      }
      same += 1;
      expect(quick).toEqual(coerceInputValue(given, type));
    }),
    { numRuns: 2_000, seed: 20 },
  );
  expect([same > 200, refused > 200]).toEqual([true, true]);
});

it('accepts what GraphQL accepts, with defaults and members that are null', () => {
  const given = { ...VALID, name: null, ratio: 0.5, open: false };
  const expected = { ...given, depth: 3 };
  expect(quickConverter(typeOf('Thing'))(given)).toEqual(expected);
  expect(coerceInputValue(given, typeOf('Thing'))).toEqual(expected);
});
