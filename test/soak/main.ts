/**
 * `npm run soak -- --minutes M`: honest traffic for half of the time alone, then with every attack in turn.
 * `--attack 'sign-ins'`, once or more, runs the named attacks alone, each for M minutes;
 * `--attack 'sign-ins + unknown keys'` runs two at the same time. `--heap MB` bounds the heap of each plane,
 * 512 MB by default. Prints a table with a line per attack, writes `.bench/soak.json`, and exits with 1 if
 * an attack harmed honest clients, ended a process, delayed health checks, or left something behind.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ATTACKS } from './attacks.ts';
import { readPlan } from './options.ts';
import type { SoakPlan } from './options.ts';
import { judge } from './report.ts';
import { tableOf } from './report-table.ts';
import { runSoak } from './run.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const plan = planOrExit();
const minutes = ((plan.quietMs + plan.attackMs * plan.parts.length) / 60_000).toFixed(1);
print(`soak with seed ${plan.seed} for ${minutes} minutes, heaps of ${plan.heapMegabytes} MB`);
const report = judge(await runSoak({ ...plan, print }));
const folder = join(import.meta.dirname, '..', '..', '.bench');
mkdirSync(folder, { recursive: true });
const file = join(folder, 'soak.json');
writeFileSync(file, JSON.stringify(report, null, 2));
print(tableOf(report));
print(`written to ${file}`);
process.exit(report.faults.length === 0 ? 0 : 1);

function planOrExit(): SoakPlan {
  try {
    return readPlan(
      process.argv.slice(2),
      ATTACKS.map(({ name }) => name),
    );
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}
