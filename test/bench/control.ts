/**
 * `npm run bench:control`: measures the control plane with realistic amounts of data: every query of the
 * console over HTTP, the configuration of all keys for a node, and the time until a disabled key is refused.
 * Prints tables and writes `.bench/control.json`. BENCH_USERS, BENCH_KEYS, BENCH_USAGE set the amounts;
 * BENCH_DATABASE_URL names a database that `npm run seed` filled; it is used without changes to its amounts.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { addCustomer, startHouse } from '../house.ts';
import type { House } from '../house.ts';
import { seedDatabase } from '../seed/seed.ts';
import { withPostgres } from '../with-postgres.ts';
import { figuresOf, measureQueries, table, timed } from './query-times.ts';
import type { Figures } from './query-times.ts';

const SIZE = {
  users: Number(process.env['BENCH_USERS'] ?? 10_000),
  keys: Number(process.env['BENCH_KEYS'] ?? 100_000),
  usage: Number(process.env['BENCH_USAGE'] ?? 1_000_000),
};
const SEEDED = process.env['BENCH_DATABASE_URL'];
const CHANGES = 100;
/** Much longer than a slow machine needs. After this time the change counts as lost. */
const CHANGED_WITHIN_MS = 60_000;
/** Statuses for a disabled key. An enabled key has 600 free requests a minute, then 429. */
const REFUSED: ReadonlySet<number> = new Set([401, 403]);
const KNOWN: ReadonlySet<number> = new Set([200, 429, ...REFUSED]);
const SNAPSHOT_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 2;
const EMPTY_DATABASE = 'gateway_bench_empty';
const MIB = 1024 * 1024;
const OUTPUT = join(import.meta.dirname, '..', '..', '.bench');
const PRELOAD = ['--expose-gc', '--import', join(import.meta.dirname, 'report-usage.ts')];
/** A query budget above the cost of all rounds, and one key for all control planes of the database. */
const CONTROL_ENV = { QUERY_BUDGET: '1000000000', SECRET_KEY: 'the secret key of a database for benchmarks' };
interface Snapshot {
  seconds: number;
  /** CPU time of the node since its start, in s. */
  nodeSeconds: number;
  /** Memory of the node, in MiB. */
  megabytes: number;
  /** Largest memory since its start, in MiB. */
  peakMegabytes: number;
  /** Memory of such a node with an empty database, in MiB. */
  emptyMegabytes: number;
}

interface Usage {
  cpuMicros: number;
  residentBytes: number;
  peakBytes: number;
}

/** CPU time and memory of the node so far, after it has returned free memory to the system. */
function usageOf(house: House): Promise<Usage> {
  const child = house.nodes[0]?.process.child;
  return new Promise((resolve) => {
    child?.on('message', (message: Usage & { type: string }) => {
      if (message.type === 'usage') resolve(message);
    });
    child?.send('settled usage');
  });
}

/** Memory of a node with an almost empty configuration, in bytes. */
async function measureEmpty(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`drop database if exists ${EMPTY_DATABASE}`);
    await client.query(`create database ${EMPTY_DATABASE}`);
    const url = new URL(databaseUrl);
    url.pathname = `/${EMPTY_DATABASE}`;
    const house = await startHouse({ databaseUrl: url.href, nodeExecArgv: PRELOAD });
    await house.applied();
    const { residentBytes } = await usageOf(house);
    await house.stop();
    await client.query(`drop database ${EMPTY_DATABASE}`);
    return residentBytes;
  } finally {
    await client.end();
  }
}

/** Renames the nodes of earlier runs, so that a seeded database can be measured again. */
async function freeNames(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("update data_plane_node set name = id where name like 'node-%'");
  } finally {
    await client.end();
  }
}

/** Restarts a node without its folder, so that its whole configuration comes from one snapshot. */
async function measureSnapshot(house: House, emptyBytes: number): Promise<Snapshot> {
  const [node] = house.nodes;
  if (!node) throw new Error('The house has no node.');
  await node.process.stop();
  rmSync(join(house.dataDir, node.name), { recursive: true, force: true });
  await house.database.query('update data_plane_node set applied_revision = 0 where name = $1', [node.name]);
  const milliseconds = await timed(async () => {
    await node.restart();
    await until(allTaken(SNAPSHOT_WITHIN_MS, node.name), () => hasAll(house, node.name));
  });
  const { cpuMicros, residentBytes, peakBytes } = await usageOf(house);
  return {
    seconds: milliseconds / 1000,
    nodeSeconds: cpuMicros / 1_000_000,
    megabytes: residentBytes / MIB,
    peakMegabytes: peakBytes / MIB,
    emptyMegabytes: emptyBytes / MIB,
  };
}

/** Whether the node has acknowledged the newest revision. */
async function hasAll(house: House, name: string): Promise<boolean> {
  const { rows } = await house.database.query<{ done: boolean }>(
    'select n.applied_revision >= h.revision as done from data_plane_node n, config_head h where n.name = $1',
    [name],
  );
  return rows[0]?.done === true;
}

/** A condition, and the maximum time to wait for it in ms. */
interface Wait {
  what: string;
  withinMs: number;
}

function allTaken(withinMs: number, node: string): Wait {
  return { what: `${node} has acknowledged the newest revision`, withinMs };
}

async function until({ what, withinMs }: Wait, done: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await done())) {
    if (performance.now() > end)
      throw new Error(`Not within ${withinMs} ms: ${what}. See the logs of the control plane and the node.`);
    // Polling takes time from the planes, which run on the same machine.
    await sleep(LOOK_EVERY_MS);
  }
}

/** Measures the time from sending the change to the first refused request. Requests follow one another. */
async function measureChanges(house: House): Promise<Figures> {
  const { api, keyId, key } = await addCustomer(house, '0');
  const isAccepted = async (): Promise<boolean> => {
    const answer = await fetch(`${house.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await answer.arrayBuffer();
    if (!KNOWN.has(answer.status)) throw new Error(`The node answered ${answer.status} to a list of models.`);
    return !REFUSED.has(answer.status);
  };
  const seen = (wanted: boolean): Promise<void> =>
    until(
      {
        what: `the node ${wanted ? 'accepts' : 'refuses'} the key that was changed`,
        withinMs: CHANGED_WITHIN_MS,
      },
      async () => (await isAccepted()) === wanted,
    );
  const times: number[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    await seen(true);
    const disabled = api.mutate('apiKeyDisable', { id: keyId }, 'appliedNodes');
    times.push(await timed(() => seen(false)));
    await disabled;
    await api.mutate('apiKeyEnable', { id: keyId }, 'apiKey { id }');
  }
  return figuresOf('key disabled until a request is refused', times);
}

function snapshotLine(snapshot: Snapshot): string {
  const { seconds, nodeSeconds, emptyMegabytes } = snapshot;
  const [grown, peak] = [snapshot.megabytes, snapshot.peakMegabytes].map((one) => one - emptyMegabytes);
  return (
    `a node without folder has all its configuration after ${seconds.toFixed(1)} s (start included) with ` +
    `${nodeSeconds.toFixed(1)} s of CPU time and ${grown?.toFixed(0)} MiB more than a node with an empty ` +
    `database (at most ${peak?.toFixed(0)} MiB more while it reads)`
  );
}

async function run(databaseUrl: string): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  if (!SEEDED) {
    const empty = await startHouse({ databaseUrl, controlEnv: CONTROL_ENV, nodes: 0 });
    await empty.stop();
    await seedDatabase(databaseUrl, SIZE, say);
  }
  const emptyBytes = await measureEmpty(databaseUrl);
  await freeNames(databaseUrl);
  const house = await startHouse({ databaseUrl, controlEnv: CONTROL_ENV, nodeExecArgv: PRELOAD });
  try {
    const name = house.nodes[0]?.name ?? '';
    await until(allTaken(SNAPSHOT_WITHIN_MS, name), () => hasAll(house, name));
    const change = await measureChanges(house);
    say(`\n${table([change])}\n`);
    const snapshot = await measureSnapshot(house, emptyBytes);
    say(snapshotLine(snapshot));
    const queries = await measureQueries(house);
    say(`\n${table(queries)}\n`);
    mkdirSync(OUTPUT, { recursive: true });
    const machine = { cpus: cpus().length, load: loadavg() };
    const report = { at: new Date(), machine, size: SIZE, snapshot, change, queries };
    writeFileSync(join(OUTPUT, 'control.json'), `${JSON.stringify(report, null, 2)}\n`);
  } finally {
    await house.stop();
  }
}

await (SEEDED ? run(SEEDED) : withPostgres('bench', run));
