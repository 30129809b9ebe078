/**
 * `npm run mutation -- [group …]`: makes one small error at a time in a copy of the money code, and counts
 * how many errors the tests notice. Prints the score of each file and group, also of groups that an earlier
 * run measured. Writes `.bench/mutation.json`, and during the run the missed errors to
 * `.bench/mutation-missed-….txt`. Exits with 1 below the minimum score. `MUTATION_WORKERS` sets the number of
 * parallel test runs, `MUTATION_SAMPLE=n` tries only every n-th error, and `MUTATION_OFFSET` selects which
 * ones. `npm run mutation -- sample` tries a few errors of two groups, chosen by PROOF_SEED, and writes no results.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GROUPS } from './mutation.groups.mjs';

/** Minimum score of all groups, in percent. */
const SCORE_MIN = 85;
/** Minimum score of the few errors of a sample, in percent. */
const SAMPLE_SCORE_MIN = 50;
const SAMPLE_GROUPS = 2;
const SAMPLE_EVERY = 10;
/** The last result of each group. A run replaces the results of its groups. */
const RESULTS = '.bench/mutation.json';
const NOTICED = new Set(['Killed', 'Timeout']);
const MISSED = new Set(['Survived', 'NoCoverage']);

const tools = dirname(fileURLToPath(import.meta.url));
const root = dirname(tools);
process.chdir(root);

// `npm install`, as for the linters, because optional binaries of some platforms were never published.
if (!existsSync(join(tools, 'node_modules', '@stryker-mutator')))
  spawnSync('npm', ['install', '--no-save', '--no-fund', '--no-audit', '--loglevel=error'], {
    cwd: tools,
    stdio: 'inherit',
  });
const { Stryker } = await import('@stryker-mutator/core');

const wanted = process.argv.slice(2);
const isSample = wanted[0] === 'sample';
if (isSample) wanted.splice(0, 1, ...chooseSample(Number(process.env.PROOF_SEED ?? 0)));
const names = wanted.length > 0 ? wanted : Object.keys(GROUPS);
const mutants = [];
for (const name of names) mutants.push(...(await run(name)));
report();

/** Chooses errors of some groups; over many seeds, all errors of all groups. Returns the names of the groups. */
function chooseSample(seed) {
  process.env.MUTATION_SAMPLE = String(SAMPLE_EVERY);
  process.env.MUTATION_OFFSET = String(seed % SAMPLE_EVERY);
  const all = Object.keys(GROUPS);
  return Array.from({ length: SAMPLE_GROUPS }, (_, at) => all[(seed * SAMPLE_GROUPS + at) % all.length]);
}

async function run(name) {
  const { mutate, tests } = GROUPS[name];
  for (const path of [...mutate, ...tests])
    if (globSync(path).length === 0) throw new Error(`Group ${name}: no file matches ${path}.`);
  // Read by the test configuration, which every worker loads.
  process.env.MUTATION_GROUP = name;
  const stryker = new Stryker({
    mutate,
    plugins: [
      import.meta.resolve('@stryker-mutator/vitest-runner'),
      join(tools, 'mutation.reporter.mjs'),
      join(tools, 'mutation.sample.mjs'),
    ],
    checkers: process.env.MUTATION_SAMPLE ? ['sample'] : [],
    testRunner: 'vitest',
    vitest: { configFile: 'tools/mutation.vitest.ts', related: false },
    coverageAnalysis: 'perTest',
    concurrency: Number(process.env.MUTATION_WORKERS ?? 2),
    // Longer than the time limits of the tests, so that a slow failing test does not count as hanging.
    timeoutMS: 45_000,
    timeoutFactor: 4,
    reporters: ['progress', 'missed'],
    ignorePatterns: ['/dist', '/console', '/docs', '/.bench', '/.gateway'],
    // Stryker would rewrite the file with an API that TypeScript 7 does not have.
    tsconfigFile: 'none',
    allowEmpty: false,
  });
  const results = await stryker.runMutationTest();
  return results.map((result) => ({ ...result, group: name }));
}

function report() {
  const measured = existsSync(RESULTS) && !isSample ? JSON.parse(readFileSync(RESULTS, 'utf8')).groups : {};
  for (const name of names) measured[name] = filesOf(mutants.filter(({ group }) => group === name));
  const groups = Object.fromEntries(Object.entries(measured).filter(([name]) => name in GROUPS));
  for (const [name, files] of Object.entries(groups)) {
    for (const [file, counts] of Object.entries(files)) console.log(line(file, counts));
    console.log(line(`group ${name}`, sum(Object.values(files))));
  }
  const all = sum(Object.values(groups).flatMap((files) => Object.values(files)));
  console.log(line('all groups', all));
  if (all.score < (isSample ? SAMPLE_SCORE_MIN : SCORE_MIN)) process.exitCode = 1;
  if (isSample) return;
  mkdirSync('.bench', { recursive: true });
  writeFileSync(RESULTS, JSON.stringify({ ...all, groups }, null, 2));
}

function filesOf(list) {
  const files = Map.groupBy(list, ({ fileName }) => fileName.slice(root.length + 1));
  return Object.fromEntries([...files].toSorted().map(([file, each]) => [file, count(each)]));
}

function count(list) {
  const of = (statuses) => list.filter(({ status }) => statuses.has(status)).length;
  return scored({ noticed: of(NOTICED), hung: of(new Set(['Timeout'])), missed: of(MISSED) });
}

function sum(counts) {
  const of = (name) => counts.reduce((total, each) => total + each[name], 0);
  return scored({ noticed: of('noticed'), hung: of('hung'), missed: of('missed') });
}

function scored({ noticed, hung, missed }) {
  return { noticed, hung, missed, score: Math.round((10_000 * noticed) / (noticed + missed)) / 100 };
}

function line(name, { noticed, hung, missed, score }) {
  const counts = `${noticed} noticed (${hung} by a timeout), ${missed} missed`;
  return `${name.padEnd(48)} ${score.toFixed(2).padStart(6)} %  ${counts}`;
}
