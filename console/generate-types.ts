/**
 * Writes graphql-env.d.ts, the GraphQL schema as a TypeScript type, from the control plane's emitted schema.
 * gql.tada's own command cannot be used: it needs a compiler API that TypeScript 7 no longer has.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { minifyIntrospection, outputIntrospectionFile } from '@gql.tada/internal';
import { buildSchema, introspectionFromSchema } from 'graphql';

const source = fileURLToPath(new URL('../control-plane/schema.graphql', import.meta.url));
const target = fileURLToPath(new URL('./graphql-env.d.ts', import.meta.url));

/** Returns the text of graphql-env.d.ts for a schema in SDL. */
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
