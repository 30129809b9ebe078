/** Prints the API's schema, sorted, into schema.graphql. `npm run schema` after every change of the API. */
import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { createBus } from './events.ts';
import { createSchema } from './schema.ts';

const HEADER =
  '# The API of the control plane. Written by `npm run schema`: change the resolvers, not this file.\n\n';

/** The schema as it stands in schema.graphql. */
export function printedSchema(): string {
  return `${HEADER}${printSchema(lexicographicSortSchema(createSchema(createBus())))}\n`;
}

if (process.argv[1]?.endsWith('emit-schema.js'))
  writeFileSync('control-plane/schema.graphql', printedSchema());
