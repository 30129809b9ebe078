/**
 * `npm run chaos -- --seed N --minutes M`: injects faults into a whole gateway under traffic, then compares
 * clients, ledger, usage log, upstream and card processor. `--workers N` gives each node N workers, which are
 * killed and frozen, too. `--plan outage` only kills the control plane and PostgreSQL, for that long. Prints
 * a table, writes `.bench/chaos-<plan>.json`, and exits with 1 if anything differs.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { failuresOf, tableOf } from './report.ts';
import { runChaos } from './run.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    minutes: { type: 'string', default: '1' },
    nodes: { type: 'string', default: '2' },
    workers: { type: 'string', default: '1' },
    plan: { type: 'string', default: 'storm' },
  },
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const seed = Number(values.seed);
print(
  `seed ${seed}: chaos for ${values.minutes} minutes on ${values.nodes} nodes of ${values.workers} workers`,
);
const report = await runChaos({
  seed,
  durationMs: Number(values.minutes) * 60_000,
  nodes: Number(values.nodes),
  workers: Number(values.workers),
  plan: values.plan === 'outage' ? 'outage' : 'storm',
  print,
});
const folder = join(import.meta.dirname, '..', '..', '.bench');
mkdirSync(folder, { recursive: true });
const file = join(folder, `chaos-${values.plan}.json`);
writeFileSync(
  file,
  JSON.stringify(report, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value), 2),
);
print(tableOf(report));
print(`written to ${file}`);
process.exit(Object.keys(failuresOf(report)).length === 0 ? 0 : 1);
