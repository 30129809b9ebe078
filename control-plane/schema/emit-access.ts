/**
 * `npm run access`: writes access.fields.txt, the list of who may read each field of the API. After adding a
 * field, review its line: no other check asks whether everybody who sees the object may see a new plain
 * value.
 */
import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { isObjectType } from 'graphql';
import type { GraphQLField, GraphQLSchema } from 'graphql';
import { ruleOf } from '../graphql/access.ts';
import { SENSITIVE } from '../graphql/sensitive.fields.ts';
import type { Context } from '../graphql/context.ts';
import { createBus } from '../database/events.ts';
import { createSchema } from './schema.ts';

const HEADER = `# Each field with its role (root fields), the scope that an access token needs (ANY: none),
# and FRESH if a browser session must be recently authenticated. Written by \`npm run access\`; review it.
`;

/** The text of access.fields.txt, sorted by field. */
export function printedAccess(schema: GraphQLSchema): string {
  const lines = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type))
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((type) =>
      (Object.values(type.getFields()) as GraphQLField<unknown, Context>[]).map((field) => {
        const name = `${type.name}.${field.name}`;
        const access = field.extensions['access'];
        const rule = [ruleOf(type, field) ?? 'NONE'].flat().join('|');
        const parts = [name, ...(typeof access === 'string' ? [access] : []), rule];
        return [...parts, ...(SENSITIVE.has(name) ? ['FRESH'] : [])].join(' ');
      }),
    );
  return `${HEADER}${lines.toSorted().join('\n')}\n`;
}

if (process.argv[1]?.endsWith('emit-access.js'))
  writeFileSync('control-plane/access.fields.txt', printedAccess(createSchema(createBus())));
