/**
 * Prints who may read each field of the API into access.fields.txt. `npm run access` after a field was added,
 * and its line is looked at: nobody else asks whether a plain value is for everybody who sees its object.
 */
import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { isObjectType } from 'graphql';
import type { GraphQLField, GraphQLSchema } from 'graphql';
import { ruleOf } from './access.ts';
import { SENSITIVE } from './access.rules.ts';
import type { Context } from './context.ts';
import { createBus } from './events.ts';
import { createSchema } from './schema.ts';

const HEADER = `# Fields: for roots who may ask; what an access token needs (ANY: no more than seeing it);
# FRESH where a browser proves again who sits there. Written by \`npm run access\`: read what it adds.
`;

/** The list as it stands in access.fields.txt, by name. */
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
