/** A list reaches its resolver as GraphQL has checked it. */
import { buildSchema, graphql, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { passPlainList, plainListPlugin } from './plain-list.ts';

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

describe('before GraphQL', () => {
  const schema = buildSchema(SCHEMA);
  const plugin = plainListPlugin(schema, { mutation: 'report', member: 'items' });

  /** The variables after the plugin, and the list that it passes to the resolver. */
  async function resolved(source: string, variables: Record<string, unknown>): Promise<unknown[]> {
    const [operation] = parse(source).definitions;
    const request = { variables };
    const contextValue: { plainList?: unknown } = {};
    const listener = await plugin.requestDidStart?.({} as never);
    await listener?.didResolveOperation?.({ operation, request, contextValue } as never);
    return [request.variables, contextValue.plainList];
  }

  it('converts the list of an operation that is this mutation alone', async () => {
    const input = { node: 'n', items: [{ name: 'a' }] };
    expect(
      await resolved('mutation ($in: Report!) { x: report(input: $in) }', { in: input, other: 1 }),
    ).toEqual([{ in: { node: 'n', items: [] }, other: 1 }, [{ name: 'a', count: 1 }]]);
  });

  it.each([
    ['a record that GraphQL refuses', 'mutation ($in: Report!) { report(input: $in) }', [{ name: 1 }]],
    ['a single record', 'mutation ($in: Report!) { report(input: $in) }', { name: 'a' }],
    [
      'two root fields',
      'mutation ($in: Report!) { a: report(input: $in) b: report(input: $in) }',
      [{ name: 'a' }],
    ],
    ['another root field', 'query ($in: Report!) { none }', [{ name: 'a' }]],
    [
      'a written input',
      'mutation ($in: [Item!]!) { report(input: { node: "n", items: $in }) }',
      [{ name: 'a' }],
    ],
  ])('leaves %s to GraphQL', async (_case, source, items) => {
    const variables = { in: { node: 'n', items } };
    expect(await resolved(source, variables)).toEqual([variables, undefined]);
  });

  it('is for a list that the schema has', () => {
    expect(() => plainListPlugin(schema, { mutation: 'report', member: 'others' })).toThrow(
      'There is no mutation report with a list others.',
    );
  });
});
