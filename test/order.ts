/** The order of the test files: who starts a long one last leaves the other workers idle at the end. */
import path from 'node:path';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Those that take longest, from more than a minute to a quarter of one; the others need no order. */
const LONGEST = [
  'console/console.test.ts',
  'test/chaos/chaos.test.ts',
  'test/model/check.test.ts',
  'test/two-planes.test.ts',
  'console/pools.test.ts',
  'console/everywhere.test.ts',
  'console/flows.test.ts',
  'test/snippets.test.ts',
  'console/words.test.ts',
  'control-plane/local/supervisor.test.ts',
  'console/delivery.test.ts',
  'test/playground-page.test.ts',
  'console/frame.test.ts',
  'console/charts.test.ts',
  'test/outage.test.ts',
  'test/api-scripts.test.ts',
  'test/upgrade.test.ts',
  'data-plane/ledger/journal-torn.test.ts',
  'test/backup/backup.test.ts',
  'console/secrets.test.ts',
  'test/sdk/cut.test.ts',
  'console/profile.test.ts',
  'test/table.test.ts',
  'test/idempotency.test.ts',
  'test/families.test.ts',
  'control-plane/local/postgres.test.ts',
  'test/pool-walk.test.ts',
  'test/upstream-health.test.ts',
  'test/passkey-page.test.ts',
  'test/race/race.test.ts',
  'test/model/conformance.test.ts',
  'test/sdk/matrix.test.ts',
  'control-plane/bad-input.test.ts',
  'control-plane/accounts/mail-ways.test.ts',
  'control-plane/access.walk.test.ts',
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
