/** The tests that have to fail when the money code is wrong, over the copy of the sources that is mutated. */
import { join, matchesGlob, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';
import { GROUPS } from './mutation.groups.mjs';

const root = join(import.meta.dirname, '..');
const group = GROUPS[process.env['MUTATION_GROUP'] ?? 'rules'];

/** The group names what notices soonest first: the first test that fails ends the run of an error. */
class SoonestFirst extends BaseSequencer {
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
      // Else the link in node_modules would lead out of the copy.
      { find: /^@gateway\/shared\/(.*)$/, replacement: join(root, 'shared', '$1.ts') },
    ],
  },
  test: {
    // Nothing of the ordinary configuration: its projects would run their own tests beside these.
    root,
    include: group.tests,
    isolate: false,
    sequence: { sequencer: SoonestFirst },
    // Longer than any of these tests takes on a busy machine, shorter than what waits for an answer in vain.
    testTimeout: 8_000,
    hookTimeout: group.database ? 30_000 : 8_000,
    expect: { poll: { timeout: 7_000, interval: 20 } },
    globalSetup: group.database ? ['test/postgres.ts'] : [],
  },
});
