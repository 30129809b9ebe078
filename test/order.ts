/**
 * The order of the test files, from the durations of an earlier run (`order.json`, written by
 * `npm run test:order`).
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

const durations = JSON.parse(readFileSync(path.join(import.meta.dirname, 'order.json'), 'utf8')) as Record<
  string,
  number
>;

/**
 * Sorts the longest files first, so that no worker is left with a long one at the end. Isolated files come
 * before all others: Vitest ends a worker, and with it the shared house, before it starts an isolated one.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    return usual.toSorted((one, other) => this.#seconds(other) - this.#seconds(one));
  }

  /** The expected duration in seconds; unknown files come last. */
  #seconds({ moduleId, project }: TestSpecification): number {
    if (project.config.isolate) return Number.POSITIVE_INFINITY;
    return durations[path.relative(this.ctx.config.root, moduleId).replaceAll(path.sep, '/')] ?? 0;
  }
}
