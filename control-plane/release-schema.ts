/**
 * Keeps the API as it is now in released.graphql, which later changes must not break:
 * `npm run release:schema`, once a release.
 */
import 'reflect-metadata';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { breakingChanges, hastyDeprecations, NOTICE_DAYS } from './api-changes.ts';
import { createBus } from './events.ts';
import { createSchema } from './schema.ts';
import { printedSchema } from './schema-file.ts';

const FILE = 'control-plane/released.graphql';
const HEADER = '# The API as it was last released. Written by `npm run release:schema`, once a release.\n\n';

/** Why the API cannot be released as it is now, one line each; none when it can. */
export function obstacles(released: string, today: Date): string[] {
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
    process.stderr.write(`The API cannot be released like this:\n  ${found.join('\n  ')}\n`);
    process.exitCode = 1;
  } else {
    const text = printedSchema(createSchema(createBus())).replace(/^#.*\n\n/, '');
    writeFileSync(FILE, `${HEADER}${text}`);
  }
}
