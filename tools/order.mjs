/**
 * Writes the durations of the test files to `test/order.json`, from the last runs of the tiers: `npm run test:order`.
 * Vitest starts the longest files first.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const TARGET = path.join(ROOT, 'test', 'order.json');
/** Written by `test/durations.ts`. */
const MEASURED = path.join(ROOT, 'node_modules', '.cache', 'durations.json');
/** Shorter files need no order. */
const LEAST_SECONDS = 1;

const kept = Object.entries({ ...read(TARGET), ...read(MEASURED) })
  .filter(([file, seconds]) => seconds >= LEAST_SECONDS && existsSync(path.join(ROOT, file)))
  .sort(([, one], [, other]) => other - one);
writeFileSync(TARGET, `${JSON.stringify(Object.fromEntries(kept), undefined, 2)}\n`);
console.log(`Wrote the durations of ${kept.length} test files to test/order.json.`);

/** Seconds by file; throws if there is no such file. */
function read(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
