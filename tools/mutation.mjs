/**
 * `npm run mutation -- [group …]`: changes the money code in a copy of the repository, one small error at a
 * time, and counts how many the tests notice. Prints the score of each file and group, those included that an
 * earlier run measured; writes `.bench/mutation.json`, and what was missed to `.bench/mutation-missed-….txt`
 * as it goes. Exits with 1 below the least score. `MUTATION_WORKERS` says how many tests run at once,
 * `MUTATION_SAMPLE=n` tries every n-th error alone, `MUTATION_OFFSET` other ones of them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GROUPS } from './mutation.groups.mjs';

const LEAST_SCORE = 85;
/** The last result of each group; a run of some groups replaces theirs. */
const RESULTS = '.bench/mutation.json';
const NOTICED = new Set(['Killed', 'Timeout']);
const MISSED = new Set(['Survived', 'NoCoverage']);

const tools = dirname(fileURLToPath(import.meta.url));
const root = dirname(tools);
process.chdir(root);

// As the linters are: `npm install`, because some platforms' optional binaries were never published.
if (!existsSync(join(tools, 'node_modules', '@stryker-mutator')))
  spawnSync('npm', ['install', '--no-fund', '--no-audit', '--loglevel=error'], {
    cwd: tools,
    stdio: 'inherit',
  });
const { Stryker } = await import('@stryker-mutator/core');

const wanted = process.argv.slice(2);
const names = wanted.length > 0 ? wanted : Object.keys(GROUPS);
const mutants = [];
for (const name of names) mutants.push(...(await run(name)));
report();

async function run(name) {
  const { mutate } = GROUPS[name];
  // The test configuration, which every worker loads, reads it.
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
    // A test that fails late on a busy machine is no hang: it has its own time limit, and ends itself.
    timeoutMS: 45_000,
    timeoutFactor: 4,
    reporters: ['progress', 'missed'],
    ignorePatterns: ['/dist', '/console', '/docs', '/.bench', '/.gateway'],
    // Stryker would rewrite it with TypeScript's own API, which TypeScript 7 no longer has.
    tsconfigFile: 'none',
    allowEmpty: false,
  });
  const results = await stryker.runMutationTest();
  return results.map((result) => ({ ...result, group: name }));
}

function report() {
  const measured = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')).groups : {};
  for (const name of names) measured[name] = filesOf(mutants.filter(({ group }) => group === name));
  const groups = Object.fromEntries(Object.entries(measured).filter(([name]) => name in GROUPS));
  for (const [name, files] of Object.entries(groups)) {
    for (const [file, counts] of Object.entries(files)) console.log(line(file, counts));
    console.log(line(`group ${name}`, sum(Object.values(files))));
  }
  const all = sum(Object.values(groups).flatMap((files) => Object.values(files)));
  console.log(line('all groups', all));
  mkdirSync('.bench', { recursive: true });
  writeFileSync(RESULTS, JSON.stringify({ ...all, groups }, null, 2));
  if (all.score < LEAST_SCORE) process.exitCode = 1;
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
  const counts = `${noticed} noticed (${hung} by hanging), ${missed} not`;
  return `${name.padEnd(48)} ${score.toFixed(2).padStart(6)} %  ${counts}`;
}
