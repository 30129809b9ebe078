/**
 * Writes graphql-env.d.ts, the schema as a type, from the control plane's emitted schema.
 * gql.tada's own command needs the compiler's old programming interface, which TypeScript 7 no longer has.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { minifyIntrospection, outputIntrospectionFile } from '@gql.tada/internal';
import { buildSchema, introspectionFromSchema } from 'graphql';

const source = fileURLToPath(new URL('../control-plane/schema.graphql', import.meta.url));
const target = fileURLToPath(new URL('./graphql-env.d.ts', import.meta.url));

/** The text of graphql-env.d.ts for a schema in the schema definition language. */
export function typesOf(schema: string): string {
  const introspection = introspectionFromSchema(buildSchema(schema), { descriptions: false });
  return outputIntrospectionFile(minifyIntrospection(introspection), {
    fileType: '.d.ts',
    shouldPreprocess: true,
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const from = process.argv[2] ?? source;
  if (existsSync(from)) writeFileSync(target, typesOf(readFileSync(from, 'utf8')));
}
