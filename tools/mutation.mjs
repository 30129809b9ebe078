/**
 * `npm run mutation -- [group …]`: changes the money code in a copy of the repository, one small error at a
 * time, and counts how many the tests notice. Prints the score of each file, writes `.bench/mutation.json`
 * and `.bench/mutation-survivors.txt`, exits with 1 below the least score.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GROUPS } from './mutation.groups.mjs';

const LEAST_SCORE = 85;
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
    plugins: [import.meta.resolve('@stryker-mutator/vitest-runner')],
    testRunner: 'vitest',
    vitest: { configFile: 'tools/mutation.vitest.ts', related: false },
    coverageAnalysis: 'perTest',
    concurrency: 2,
    reporters: ['progress'],
    ignorePatterns: ['/dist', '/console', '/docs', '/.bench', '/.gateway'],
    // Stryker would rewrite it with TypeScript's own API, which TypeScript 7 no longer has.
    tsconfigFile: 'none',
    allowEmpty: false,
  });
  const results = await stryker.runMutationTest();
  return results.map((result) => ({ ...result, group: name }));
}

function report() {
  const files = Map.groupBy(mutants, ({ fileName }) => fileName.slice(root.length + 1));
  for (const [file, list] of [...files].toSorted()) console.log(line(file, list));
  console.log(line('all', mutants));
  mkdirSync('.bench', { recursive: true });
  const scores = [...files].map(([file, list]) => ({ file, ...count(list) }));
  writeFileSync('.bench/mutation.json', JSON.stringify({ groups: names, ...count(mutants), scores }, null, 2));
  const missed = mutants.filter(({ status }) => MISSED.has(status));
  writeFileSync('.bench/mutation-survivors.txt', missed.map(survivor).join('\n'));
  if (count(mutants).score < LEAST_SCORE) process.exitCode = 1;
}

function count(list) {
  const noticed = list.filter(({ status }) => NOTICED.has(status)).length;
  const missed = list.filter(({ status }) => MISSED.has(status)).length;
  return { noticed, missed, score: Math.round((10_000 * noticed) / (noticed + missed)) / 100 };
}

function line(name, list) {
  const { noticed, missed, score } = count(list);
  return `${name.padEnd(48)} ${score.toFixed(2).padStart(6)} %  ${noticed} noticed, ${missed} not`;
}

function survivor({ fileName, location, mutatorName, replacement, status }) {
  const place = `${fileName.slice(root.length + 1)}:${location.start.line}:${location.start.column}`;
  return `${place} ${status} ${mutatorName} => ${String(replacement).replace(/\s+/g, ' ').slice(0, 80)}`;
}
