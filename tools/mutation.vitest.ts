/** The tests that have to fail when the money code is wrong, over the copy of the sources that is mutated. */
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import base from '../vitest.config.ts';
import { GROUPS } from './mutation.groups.mjs';

const root = join(import.meta.dirname, '..');
const group = GROUPS[process.env['MUTATION_GROUP'] ?? 'rules'];

export default defineConfig({
  resolve: {
    alias: [
      { find: /^graphql$/, replacement: 'graphql/index.js' },
      // Else the link in node_modules would lead out of the copy.
      { find: /^@gateway\/shared\/(.*)$/, replacement: join(root, 'shared', '$1.ts') },
    ],
  },
  test: {
    ...base.test,
    root,
    include: group.tests,
    isolate: false,
    globalSetup: group.database ? base.test.globalSetup : [],
  },
});
