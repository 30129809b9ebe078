/** The schema as a whole: valid, documented, with access rules, and equal to schema.graphql. */
import { readFileSync } from 'node:fs';
import {
  getIntrospectionQuery,
  graphqlSync,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { fieldsWithoutRule } from '../graphql/context.ts';
import { createBus } from '../database/events.ts';
import { createSchema } from './schema.ts';
import { printedSchema } from './schema-file.ts';

const schema = createSchema(createBus());
const types = Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith('__'));
const roots = new Set(['Query', 'Mutation', 'Subscription']);

describe('the schema', () => {
  it('equals schema.graphql (if not, run npm run schema)', () => {
    expect(readFileSync('control-plane/schema.graphql', 'utf8')).toBe(printedSchema(schema));
  });

  it('is valid and supports introspection', () => {
    const { data, errors } = graphqlSync({ schema, source: getIntrospectionQuery() });
    expect(errors).toBe(undefined);
    expect(data?.['__schema']).toMatchObject({ queryType: { name: 'Query' } });
  });

  it('has a description for every type, field, argument and enum value', () => {
    const missing: string[] = [];
    const check = (name: string, item: { description?: string | null | undefined }): void => {
      if (!item.description?.trim()) missing.push(name);
    };
    for (const type of types) {
      if (!roots.has(type.name)) check(type.name, type);
      if (isEnumType(type)) for (const value of type.getValues()) check(`${type.name}.${value.name}`, value);
      if (isInputObjectType(type))
        for (const field of Object.values(type.getFields())) check(`${type.name}.${field.name}`, field);
      if (!isObjectType(type) && !isInterfaceType(type)) continue;
      for (const field of Object.values(type.getFields())) {
        check(`${type.name}.${field.name}`, field);
        for (const argument of field.args) check(`${type.name}.${field.name}(${argument.name}:)`, argument);
      }
    }
    expect(missing).toEqual([]);
  });

  it('has an access rule for every root field', () => {
    expect(fieldsWithoutRule(schema)).toEqual([]);
  });

  it('has no field for the content of requests in the usage log', () => {
    const usage = schema.getType('UsageEntry');
    if (!isObjectType(usage)) return;
    expect(
      Object.keys(usage.getFields()).filter((name) => /content|prompt|body|messages|text/i.test(name)),
    ).toEqual([]);
  });
});
