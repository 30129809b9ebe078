/** Test configuration of a mutation run: the tests of one group, over the mutated copy of the sources. */
import { join, matchesGlob, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';
import { GROUPS } from './mutation.groups.mjs';

const root = join(import.meta.dirname, '..');
const group = GROUPS[process.env['MUTATION_GROUP'] ?? 'rules'];

/** Runs the tests in the order of the group, because the first failing test ends the run of an error. */
class GroupOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) =>
      group.tests.findIndex((path) => matchesGlob(relative(root, moduleId), path));
    return files.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

export default defineConfig({
  resolve: {
    alias: [
      { find: /^graphql$/, replacement: 'graphql/index.js' },
      // The link in node_modules would lead out of the copy.
      { find: /^@gateway\/shared\/(.*)$/, replacement: join(root, 'shared', '$1.ts') },
    ],
  },
  test: {
    // Not the ordinary configuration: its projects would run their own tests, too.
    root,
    include: group.tests,
    isolate: false,
    sequence: { sequencer: GroupOrder },
    // Longer than these tests take on a busy machine, shorter than a wait that never succeeds.
    testTimeout: 8_000,
    hookTimeout: group.database ? 30_000 : 8_000,
    expect: { poll: { timeout: 7_000, interval: 20 } },
    globalSetup: group.database ? ['test/postgres.ts'] : [],
  },
});
