/** The order of the test files: who starts a long one last leaves the other worker idle at the end. */
import path from 'node:path';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Those that take longest, from more than a minute to a quarter of one; the others need no order. */
const LONGEST = [
  'test/chaos/chaos.test.ts',
  'console/console.test.ts',
  'test/model/check.test.ts',
  'console/words.test.ts',
  'console/pools.test.ts',
  'console/everywhere.test.ts',
  'test/two-planes.test.ts',
  'test/outage.test.ts',
  'test/playground-page.test.ts',
  'control-plane/local/supervisor.test.ts',
  'console/flows.test.ts',
  'console/delivery.test.ts',
  'test/snippets.test.ts',
  'test/families.test.ts',
  'test/backup/backup.test.ts',
  'test/pool-walk.test.ts',
  'console/secrets.test.ts',
  'console/charts.test.ts',
  'test/upstream-health.test.ts',
  'test/upgrade.test.ts',
  'console/frame.test.ts',
  'test/idempotency.test.ts',
  'control-plane/local/postgres.test.ts',
];

/** The longest files first; then those with modules of their own, and those that share them together. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    return usual.toSorted((one, other) => this.#rank(one) - this.#rank(other));
  }

  #rank({ moduleId }: TestSpecification): number {
    const at = LONGEST.indexOf(path.relative(this.ctx.config.root, moduleId).replaceAll(path.sep, '/'));
    return at === -1 ? LONGEST.length : at;
  }
}
