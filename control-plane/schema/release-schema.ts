/**
 * Part of `npm run release`: writes the current API to released.graphql, which later changes must not break.
 * Fails if the API breaks clients of the last release.
 */
import 'reflect-metadata';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { breakingChanges, hastyDeprecations, NOTICE_DAYS } from './api-changes.ts';
import { createBus } from '../database/events.ts';
import { createSchema } from './schema.ts';
import { printedSchema } from './schema-file.ts';

const FILE = 'control-plane/released.graphql';
const HEADER = '# The API of the last release. Written by `npm run release`.\n\n';

/** The reasons why the API cannot be released, one line each. */
function obstacles(released: string, today: Date): string[] {
  const schema = createSchema(createBus());
  return [
    ...breakingChanges(released, schema, today).map((change) => `breaks clients: ${change}`),
    ...hastyDeprecations(released, schema, today).map(
      (item) => `gives less than ${NOTICE_DAYS} days of notice: ${item}`,
    ),
  ];
}

if (process.argv[1]?.endsWith('release-schema.js')) {
  const found = existsSync(FILE) ? obstacles(readFileSync(FILE, 'utf8'), new Date()) : [];
  if (found.length > 0) {
    const advice = 'Deprecate first; see docs/api.md.';
    process.stderr.write(`The API cannot be released:\n  ${found.join('\n  ')}\n${advice}\n`);
    process.exitCode = 1;
  } else {
    const text = printedSchema(createSchema(createBus())).replace(/^#.*\n\n/, '');
    writeFileSync(FILE, `${HEADER}${text}`);
  }
}
