/** The benchmark of the console's queries: every query gets values for its required variables. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, getOperationAST, getVariableValues, parse } from 'graphql';
import { expect, it } from 'vitest';
import { consoleQueries } from './console-queries.ts';

const SCHEMA = join(import.meta.dirname, '..', '..', 'control-plane', 'schema.graphql');
const schema = buildSchema(readFileSync(SCHEMA, 'utf8'));
const names = consoleQueries({}).map(({ name }) => name);
const queries = consoleQueries(Object.fromEntries(names.map((name) => [name, 'some_id'])));

it.each(queries)('the query $name gets valid values for its variables', ({ text, variables }) => {
  const definitions = getOperationAST(parse(text))?.variableDefinitions ?? [];
  expect(getVariableValues(schema, definitions, variables).errors).toBeUndefined();
});
