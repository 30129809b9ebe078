/** A list reaches its resolver as GraphQL has checked it. */
import { buildSchema, graphql } from 'graphql';
import { expect, it } from 'vitest';
import { passPlainList } from './plain-list.ts';

const SCHEMA = `
  type Query { none: Int }
  input Item { name: String! count: Int = 1 }
  input Report { node: ID! items: [Item!]! }
  type Mutation { report(input: Report!): Int }
`;

it('is left out of the input, keeps its order and defaults, and is refused if it does not fit', async () => {
  const schema = buildSchema(SCHEMA);
  const field = schema.getMutationType()?.getFields()['report'];
  const seen: unknown[] = [];
  if (field) field.resolve = (_source, args) => seen.push(args);
  passPlainList(schema, { mutation: 'report', member: 'items' });
  const source = 'mutation ($input: Report!) { report(input: $input) }';
  const send = (items: object[]) =>
    graphql({ schema, source, variableValues: { input: { node: 'n', items } } });
  expect(await send([{ name: 'a' }, { name: 'b', count: 2 }])).toEqual({ data: { report: 1 } });
  const plainList = [
    { name: 'a', count: 1 },
    { name: 'b', count: 2 },
  ];
  expect(seen).toEqual([{ input: { node: 'n', items: [] }, plainList }]);
  expect((await send([{ name: 1 }])).errors).toHaveLength(1);
  expect(seen).toHaveLength(1);
});

it('must belong to a mutation', () => {
  expect(() => passPlainList(buildSchema(SCHEMA), { mutation: 'other', member: 'items' })).toThrow(
    'There is no mutation other.',
  );
});
