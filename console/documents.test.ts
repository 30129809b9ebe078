/** Every document of the console against the schema that the control plane emits. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSchema, type DocumentNode, type FragmentDefinitionNode, parse, validate, visit } from 'graphql';
import { expect, test } from 'vitest';

const here = fileURLToPath(new URL('.', import.meta.url));
const schemaPath = fileURLToPath(new URL('../control-plane/schema.graphql', import.meta.url));
/** The GraphQL documents of the pages, and those that are sent before a page is loaded. */
const DOCUMENT = /(?:graphql\(\s*|_TEXT = )`([^`]+)`/g;

const documents = globSync('{*,pages/**/*,components/**/*}.{ts,tsx}', { cwd: here })
  .filter((name) => !name.endsWith('.test.ts'))
  .flatMap((name) =>
    [...readFileSync(`${here}${name}`, 'utf8').matchAll(DOCUMENT)].map(([, text = '']) => ({ name, text })),
  );

const definitions = documents.flatMap(({ name, text }) =>
  parse(text).definitions.map((definition) => ({ name, definition })),
);
const fragments = new Map<string, FragmentDefinitionNode>();
for (const { definition } of definitions) {
  if (definition.kind === 'FragmentDefinition') fragments.set(definition.name.value, definition);
}

/** One operation with the fragments it needs, directly or through others. */
function whole(start: DocumentNode['definitions'][number]): DocumentNode {
  const needed = new Set([start]);
  for (const definition of needed) {
    visit(definition, {
      FragmentSpread: ({ name }) => {
        const fragment = fragments.get(name.value);
        if (fragment) needed.add(fragment);
      },
    });
  }
  return { ...parse('{ __typename }'), definitions: [...needed] };
}

test('the search finds the documents that pages send', () => {
  expect(documents.length).toBeGreaterThan(10);
});

test.skipIf(!existsSync(schemaPath))('every document fits the schema of the control plane', () => {
  const schema = buildSchema(readFileSync(schemaPath, 'utf8'));
  const faults = definitions
    .filter(({ definition }) => definition.kind === 'OperationDefinition')
    .flatMap(({ name, definition }) =>
      validate(schema, whole(definition)).map(({ message }) => `${name}: ${message}`),
    );
  expect(faults).toEqual([]);
});
