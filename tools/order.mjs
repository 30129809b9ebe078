/**
 * Writes the durations of the test files to `test/order.json`, from the report of the last `npm test` or
 * from the file given: `npm run test:order [-- REPORT]`. Vitest starts the longest files first.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { reportFile } from './tiers.mjs';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const TARGET = path.join(ROOT, 'test', 'order.json');
/** Shorter files need no order. */
const LEAST_SECONDS = 1;

const reports = process.argv[2] ? [process.argv[2]] : ['push', 'proof'].map(reportFile);
const known = Object.entries(JSON.parse(readFileSync(TARGET, 'utf8')));
const measured = reports.flatMap(durationsOf);
const all = Object.fromEntries([...known, ...measured]);
const kept = Object.entries(all)
  .filter(([file, seconds]) => seconds >= LEAST_SECONDS && readable(path.join(ROOT, file)))
  .sort(([, one], [, other]) => other - one);
writeFileSync(TARGET, `${JSON.stringify(Object.fromEntries(kept), undefined, 2)}\n`);
console.log(`Wrote the durations of ${kept.length} test files to test/order.json.`);

/** Pairs of a file and its seconds; none if there is no such report. */
function durationsOf(report) {
  const text = readable(report);
  if (!text) return [];
  return JSON.parse(text).testResults.map(({ name, startTime, endTime }) => [
    path.relative(ROOT, name).replaceAll(path.sep, '/'),
    Math.round((endTime - startTime) / 1000),
  ]);
}

function readable(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
