/**
 * `npm run chaos -- --seed N --minutes M`: breaks a whole gateway for a while and compares every book with
 * what clients saw; `--plan outage` takes the control plane and PostgreSQL away for so long, and nothing
 * else. Prints a table, writes `.bench/chaos-<plan>.json`, exits with 1 when a micro-dollar is missing.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isClean, tableOf } from './report.ts';
import { runChaos } from './run.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    minutes: { type: 'string', default: '1' },
    nodes: { type: 'string', default: '2' },
    plan: { type: 'string', default: 'storm' },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const seed = Number(values.seed);
say(`chaos with seed ${seed} for ${values.minutes} minutes on ${values.nodes} nodes`);
const report = await runChaos({
  seed,
  durationMs: Number(values.minutes) * 60_000,
  nodes: Number(values.nodes),
  plan: values.plan === 'outage' ? 'outage' : 'storm',
  say,
});
const folder = join(import.meta.dirname, '..', '..', '.bench');
mkdirSync(folder, { recursive: true });
const file = join(folder, `chaos-${values.plan}.json`);
writeFileSync(
  file,
  JSON.stringify(report, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value), 2),
);
say(tableOf(report));
say(`written to ${file}`);
process.exit(isClean(report) ? 0 : 1);
