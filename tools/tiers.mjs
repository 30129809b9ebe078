/**
 * Runs tiers of tests from a fresh clone: installs, builds, runs the tests, and ends with the line
 * "N passed, N failed, N skipped". Used by `npm test`, `npm run proof` and `.ci/run`. Plain JavaScript for the
 * system's own Node (20 or later).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium } from './chromium.mjs';
import { installLinters, runLinters } from './linters.mjs';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const CACHE = path.join(ROOT, 'node_modules', '.cache');
const NODE = path.join(ROOT, 'node_modules', '.bin', 'node');
/** Priority of the linters beside the tests, so that they do not slow browsers: 0 is normal, 19 the lowest. */
const LINTER_NICENESS = 5;
const NONE = { passed: 0, failed: 0, skipped: 0 };

/** Path of Vitest's report of the last run of a tier. */
const reportFile = (tier) => path.join(CACHE, `tests-${tier}.json`);

/** Runs the tiers, one after the other. `options` go to Vitest. Returns the exit status of the process. */
export async function runTiers(tiers, options = []) {
  await prepare();
  mkdirSync(CACHE, { recursive: true });
  const counts = [];
  for (const tier of tiers) counts.push(...(await TIERS[tier](options)));
  const sum = (name) => counts.reduce((total, each) => total + each[name], 0);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
  return sum('failed') === 0 ? 0 : 1;
}

const TIERS = {
  /** Every push: types, linters, and all tests but the long ones. */
  push: (options) => Promise.all([check(), test('push', options)]),
  /** Changes of money code: long tests with a seed that changes, and a sample of mutants. */
  proof: async (options) => {
    process.env.PROOF_SEED ??= new Date().toISOString().slice(0, 10).replaceAll('-', '');
    console.log(
      `Seed of this proof: ${process.env.PROOF_SEED}. Repeat it with PROOF_SEED=${process.env.PROOF_SEED}.`,
    );
    const tested = await test('proof', options);
    // A run of some files leaves out the mutants.
    return options.length > 0 ? [tested] : [tested, await mutate()];
  },
};

/** Installs packages, linters and a browser at the same time, and builds. Exits if the packages cannot be installed. */
async function prepare() {
  const linters = installLinters();
  const chromium = findChromium();
  // Handled below; until then a rejection must not end this process.
  linters.catch(() => undefined);
  const status = await run(process.execPath, [path.join(ROOT, 'tools', 'setup.mjs')]);
  if (status !== 0) process.exit(status);
  process.env.CHROMIUM = (await chromium) ?? 'none';
  await linters.catch((error) => console.error(error.message));
}

async function check() {
  const { passed, output } = await runLinters({ niceness: LINTER_NICENESS }).catch((error) => ({ passed: false, output: String(error) }));
  console.log(passed ? 'Types and linters: passed.' : `${output}\nTypes and linters: failed.`);
  return passed ? { ...NONE, passed: 1 } : { ...NONE, failed: 1 };
}

async function test(tier, options) {
  const report = reportFile(tier);
  rmSync(report, { force: true });
  const status = await run(NODE, [
    ...[path.join(ROOT, 'node_modules', 'vitest', 'vitest.mjs'), 'run'],
    ...['--project', tier],
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    '--reporter=./test/durations.ts',
    ...options,
  ]);
  const counts = existsSync(report) ? countsOf(JSON.parse(readFileSync(report, 'utf8'))) : NONE;
  // An error outside of any test fails the run as well.
  return status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

function countsOf({ testResults, numPassedTests, numFailedTests, numPendingTests, numTodoTests }) {
  const broken = testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
  return {
    passed: numPassedTests,
    failed: numFailedTests + broken.length,
    skipped: numPendingTests + numTodoTests,
  };
}

async function mutate() {
  const status = await run(NODE, [path.join(ROOT, 'tools', 'mutation.mjs'), 'sample']);
  return status === 0 ? { ...NONE, passed: 1 } : { ...NONE, failed: 1 };
}

async function run(command, args) {
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  const [status] = await once(child, 'exit');
  return status ?? 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [tier, ...options] = process.argv.slice(2);
  process.exitCode = await runTiers([tier], options);
}
