/**
 * A reporter for Vitest: writes the duration of each test file, with its imports and its set-up, for
 * `npm run test:order`. Vitest's own JSON report leaves both out.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const FILE = path.join(import.meta.dirname, '..', 'node_modules', '.cache', 'durations.json');
const SECOND_MS = 1_000;

/** Adds the files of a run to those of earlier runs. */
export default class Durations implements Reporter {
  readonly #seconds: Record<string, number> = {};

  onTestModuleEnd(module: TestModule): void {
    const { collectDuration, duration } = module.diagnostic();
    this.#seconds[module.relativeModuleId] = Math.round((collectDuration + duration) / SECOND_MS);
  }

  onTestRunEnd(): void {
    const earlier: object = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
    writeFileSync(FILE, JSON.stringify({ ...earlier, ...this.#seconds }));
  }
}
