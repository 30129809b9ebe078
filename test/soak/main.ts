/**
 * `npm run soak -- --minutes M`: honest traffic for half of the time alone, then with every attack in turn.
 * `--attacks 'sign-ins,unknown keys'` selects some, `--heap MB` bounds the heap of both planes. Prints a
 * table with a line per attack, writes `.bench/soak.json`, and exits with 1 if an attack harmed honest
 * clients, ended a process, delayed health checks, or left something behind.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { judge, tableOf } from './report.ts';
import { runSoak } from './run.ts';

const MINUTE_MS = 60_000;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    minutes: { type: 'string', default: '20' },
    heap: { type: 'string', default: '512' },
    attacks: { type: 'string', default: '' },
  },
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);
print(`soak with seed ${values.seed} for ${values.minutes} minutes, heaps of ${values.heap} MB`);
const durationMs = Number(values.minutes) * MINUTE_MS;
const report = judge(
  await runSoak({
    seed: Number(values.seed),
    durationMs,
    heapMegabytes: Number(values.heap),
    attacks: values.attacks.split(',').filter(Boolean),
    warmUpMs: Math.min(MINUTE_MS, durationMs / 4),
    restMs: MINUTE_MS,
    print,
  }),
);
const folder = join(import.meta.dirname, '..', '..', '.bench');
mkdirSync(folder, { recursive: true });
const file = join(folder, 'soak.json');
writeFileSync(file, JSON.stringify(report, null, 2));
print(tableOf(report));
print(`written to ${file}`);
process.exit(report.faults.length === 0 ? 0 : 1);
