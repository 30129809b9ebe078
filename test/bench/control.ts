/**
 * `npm run bench:control`: the control plane with real amounts of data. Every query of the console over HTTP
 * with a real session, the configuration of all keys to a node, and a key's change until it is refused.
 * Prints tables and writes `.bench/control.json`. BENCH_USERS, BENCH_KEYS, BENCH_USAGE set the amounts;
 * BENCH_DATABASE_URL names a database that `npm run seed` filled, and is measured as it is.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { addCustomer, startHouse } from '../house.ts';
import type { House } from '../house.ts';
import { seedDatabase } from '../seed/seed.ts';
import { figuresOf, measureQueries, table, timed } from './query-times.ts';
import type { Figures } from './query-times.ts';

const SIZE = {
  users: Number(process.env['BENCH_USERS'] ?? 10_000),
  keys: Number(process.env['BENCH_KEYS'] ?? 100_000),
  usage: Number(process.env['BENCH_USAGE'] ?? 1_000_000),
};
const SEEDED = process.env['BENCH_DATABASE_URL'];
const CHANGES = 100;
/** Far beyond what a slow machine takes: after this the change is taken to be lost. */
const CHANGED_WITHIN_MS = 60_000;
/** Answers to a disabled key; one that works has 600 free requests a minute, then 429. */
const REFUSED: ReadonlySet<number> = new Set([401, 403]);
const KNOWN: ReadonlySet<number> = new Set([200, 429, ...REFUSED]);
const SNAPSHOT_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 2;
const EMPTY_DATABASE = 'gateway_bench_empty';
const MEGABYTE = 1024 * 1024;
const OUTPUT = join(import.meta.dirname, '..', '..', '.bench');
const PRELOAD = ['--expose-gc', '--import', join(import.meta.dirname, 'report-usage.ts')];
/** More than all rounds together cost. */
const CONTROL_ENV = { QUERY_BUDGET: '1000000000' };
interface Snapshot {
  seconds: number;
  /** Processor time of the node from its start on, in s. */
  nodeSeconds: number;
  megabytes: number;
  /** The most that it took since its start. */
  peakMegabytes: number;
  /** What the same node takes with an empty database. */
  emptyMegabytes: number;
}

interface Usage {
  cpuMicros: number;
  residentBytes: number;
  peakBytes: number;
}

/** What a node of this house took up to now, once it gave back what is free. */
function usageOf(house: House): Promise<Usage> {
  const child = house.nodes[0]?.process.child;
  return new Promise((resolve) => {
    child?.on('message', (message: Usage & { type: string }) => {
      if (message.type === 'usage') resolve(message);
    });
    child?.send('settled usage');
  });
}

/** The memory of a node that was told next to nothing, in bytes. */
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

/** A seeded database may be measured again: nodes of an earlier run leave their names to this one's. */
async function freeNames(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("update data_plane_node set name = id where name like 'node-%'");
  } finally {
    await client.end();
  }
}

/** A node that lost its folder starts again: everything it knows then comes from one snapshot. */
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
    megabytes: residentBytes / MEGABYTE,
    peakMegabytes: peakBytes / MEGABYTE,
    emptyMegabytes: emptyBytes / MEGABYTE,
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

/** What is waited for, and for how long at most. */
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
      throw new Error(
        `Not within ${withinMs} ms: ${what}. The log of the control plane and the node says more.`,
      );
    // The question itself costs the planes time, and both of them share the machine with it.
    await sleep(LOOK_EVERY_MS);
  }
}

/** From sending the change until the first refused request, with requests one after another. */
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
    `a node without a folder knows all after ${seconds.toFixed(1)} s, start included, with ` +
    `${nodeSeconds.toFixed(1)} s of processor time and ${grown?.toFixed(0)} MB more than one that knows ` +
    `next to nothing (at most ${peak?.toFixed(0)} MB more while it reads)`
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

async function withPostgres(work: (databaseUrl: string) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  // The superuser's server runs as somebody else, who has to get through this folder.
  chmodSync(dataDir, 0o711);
  const postgres = await startPostgres({ dataDir });
  try {
    await work(postgres.url);
  } finally {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

await (SEEDED ? run(SEEDED) : withPostgres(run));
