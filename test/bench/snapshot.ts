/**
 * `npm run bench:snapshot`: measures how a node without a folder gets the configuration of many keys: the
 * time until it has acknowledged all, its memory, and the longest pause of the event loop in the control
 * plane. Starts the node twice so, and then with its folder. Prints lines and writes `.bench/snapshot.json`.
 * BENCH_KEYS and BENCH_USERS set the amounts.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startHouse } from '../house.ts';
import type { House, HouseNode } from '../house.ts';
import { seedDatabase } from '../seed/seed.ts';
import { withPostgres } from '../with-postgres.ts';
import { timed } from './query-times.ts';
import { settledUsageOf, usageOf } from './requests/processes.ts';

const SIZE = {
  users: Number(process.env['BENCH_USERS'] ?? 100_000),
  keys: Number(process.env['BENCH_KEYS'] ?? 1_000_000),
  usage: 0,
};
/** Starts of the node, and whether it has the folder of the start before. */
const STARTS = [{ hasFolder: false }, { hasFolder: false }, { hasFolder: true }];
const LOOK_EVERY_MS = 50;
const WITHIN_MS = 300_000;
const MIB = 1024 * 1024;
const OUTPUT = join(import.meta.dirname, '..', '..', '.bench');
/** One key for both control planes of the database. */
const controlEnv = { SECRET_KEY: 'the secret key of a database for benchmarks' };
const PRELOAD = ['--expose-gc', '--import', join(import.meta.dirname, 'report-usage.ts')];

interface Figures {
  hasFolder: boolean;
  /**
   * From the start of the process until the node serves with the newest revision, and until it has stored it.
   */
  readySeconds: number;
  storedSeconds: number;
  nodeCpuSeconds: number;
  /** Memory of the node after it has returned free memory to the system, and at most. */
  nodeMebibytes: number;
  nodePeakMebibytes: number;
  /** Longest pauses of the event loop of the control plane and of the node. */
  controlPauseMs: number;
  nodePauseMs: number;
}

/** Restarts the node. */
async function measure(house: House, node: HouseNode, hasFolder: boolean): Promise<Figures> {
  await node.process.stop();
  if (!hasFolder) rmSync(join(house.dataDir, node.name), { recursive: true, force: true });
  await house.database.query('update data_plane_node set applied_revision = 0 where name = $1', [node.name]);
  await usageOf(house.control);
  let readyMs = 0;
  const storedMs = await timed(async () => {
    readyMs = await timed(async () => {
      await node.restart();
      await until(async () => (await fetch(`${node.url}/readyz`)).status === 200);
    });
    await until(() => hasAll(house, node.name));
  });
  const [control, own] = await Promise.all([usageOf(house.control), usageOf(node.process)]);
  const settled = await settledUsageOf(node.process);
  return {
    hasFolder,
    readySeconds: readyMs / 1000,
    storedSeconds: storedMs / 1000,
    nodeCpuSeconds: own.cpuMicros / 1e6,
    nodeMebibytes: settled.residentBytes / MIB,
    nodePeakMebibytes: own.peakBytes / MIB,
    controlPauseMs: control.delayMaxMs,
    nodePauseMs: own.delayMaxMs,
  };
}

function lineOf(figures: Figures): string {
  const { readySeconds, storedSeconds, nodeCpuSeconds, controlPauseMs, nodePauseMs } = figures;
  const [memory, peak] = [figures.nodeMebibytes, figures.nodePeakMebibytes];
  return (
    `${figures.hasFolder ? 'with its' : 'without'} folder: ready after ${readySeconds.toFixed(1)} s, ` +
    `stored after ${storedSeconds.toFixed(1)} s; node ` +
    `${nodeCpuSeconds.toFixed(1)} s of CPU time, ${memory.toFixed(0)} MiB, at most ${peak.toFixed(0)} MiB; ` +
    `longest pause: control plane ${controlPauseMs.toFixed(0)} ms, node ${nodePauseMs.toFixed(0)} ms`
  );
}

async function hasAll(house: House, name: string): Promise<boolean> {
  const { rows } = await house.database.query<{ done: boolean }>(
    'select n.applied_revision >= h.revision as done from data_plane_node n, config_head h where n.name = $1',
    [name],
  );
  return rows[0]?.done === true;
}

async function until(done: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + WITHIN_MS;
  while (!(await done())) {
    if (performance.now() > end) throw new Error('The node did not get the configuration. See its log.');
    await sleep(LOOK_EVERY_MS);
  }
}

async function run(databaseUrl: string): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const empty = await startHouse({ databaseUrl, controlEnv, nodes: 0 });
  await empty.stop();
  await seedDatabase(databaseUrl, SIZE, say);
  const startedAt = performance.now();
  const house = await startHouse({
    databaseUrl,
    controlEnv,
    nodeExecArgv: PRELOAD,
    controlExecArgv: PRELOAD,
  });
  say(`both planes start with ${SIZE.keys} keys in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  try {
    const [node] = house.nodes;
    if (!node) throw new Error('The house has no node.');
    await until(() => hasAll(house, node.name));
    const { delayMaxMs, residentBytes } = await usageOf(house.control);
    const controlMebibytes = (residentBytes / MIB).toFixed(0);
    say(`control plane: longest pause at its start ${delayMaxMs.toFixed(0)} ms, ${controlMebibytes} MiB`);
    const rounds: Figures[] = [];
    for (const { hasFolder } of STARTS) {
      const figures = await measure(house, node, hasFolder);
      rounds.push(figures);
      say(lineOf(figures));
    }
    mkdirSync(OUTPUT, { recursive: true });
    const machine = { cpus: cpus().length, load: loadavg() };
    const report = { at: new Date(), machine, size: SIZE, startPauseMs: delayMaxMs, rounds };
    writeFileSync(join(OUTPUT, 'snapshot.json'), `${JSON.stringify(report, null, 2)}\n`);
  } finally {
    await house.stop();
  }
}

await withPostgres('snapshot', run);
