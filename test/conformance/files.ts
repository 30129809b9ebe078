/** The files of the page about conformance. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Conformance } from './page.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** The results, from which the document and the page of the console are made. */
export const RESULTS_FILE = join(ROOT, 'console', 'pages', 'conformance', 'results.json');
export const PAGE_FILE = join(ROOT, 'docs', 'conformance.md');

/** The results that the checkout has. */
export function readResults(): Conformance {
  return JSON.parse(readFileSync(RESULTS_FILE, 'utf8')) as Conformance;
}
