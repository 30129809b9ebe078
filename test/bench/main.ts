/**
 * `npm run bench`: compares this gateway with a bare Fastify pass-through and with node:http + undici, in one
 * run on one machine; then measures one wallet over two nodes. Each process reports its own CPU time. The
 * latency is the time above that of a request directly to the upstream.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync, chmodSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import { startProcess } from '../house/process.ts';
import type { HouseProcess } from '../house/process.ts';
import { CHUNKS, HOLDING_MODEL, openStreams, runLoad } from './load.ts';
import type { Latencies, Load, Target } from './load.ts';
import { memoryTable, table, walletTable } from './table.ts';
import type { MemoryRow, Row } from './table.ts';
import { measureWallet } from './wallet.ts';
import type { WalletFigures } from './wallet.ts';

const PRELOAD = ['--expose-gc', '--import', join(import.meta.dirname, 'report-usage.ts')];
const OUTPUT = join(import.meta.dirname, '..', '..', '.bench');
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const OPEN_STREAMS = Number(process.env['BENCH_STREAMS'] ?? 1_000);
/** Each target first serves this multiple of the load unmeasured, so that its code is compiled. */
const WARM_UP_LOADS = 2;
/** `npm run bench -- wallet` measures only one wallet over two nodes. */
const WALLET_ONLY = process.argv[2] === 'wallet';
/** Below the gateway's limit of requests in flight per wallet. */
const STREAMS_PER_WALLET = 50;
const LOADS: (Load & { name: string })[] = [
  { name: 'whole', stream: false, requests: 3_000, concurrency: 8 },
  { name: `streamed, ${CHUNKS} chunks`, stream: true, requests: 300, concurrency: 8 },
];

interface Measured extends Target {
  process?: HouseProcess;
}

interface Usage {
  type: 'usage';
  cpuMicros: number;
  residentBytes: number;
}

function usageOf(process: HouseProcess): Promise<Usage> {
  return new Promise((resolve) => {
    const listen = (message: Usage): void => {
      if (message.type !== 'usage') return;
      process.child.off('message', listen);
      resolve(message);
    };
    process.child.on('message', listen);
    process.child.send('usage');
  });
}

async function measure(target: Measured, load: Load): Promise<{ cpuMicros: number; latencies: Latencies }> {
  const before = target.process && (await usageOf(target.process));
  const latencies = await runLoad(target, load);
  const after = target.process && (await usageOf(target.process));
  return { cpuMicros: ((after?.cpuMicros ?? 0) - (before?.cpuMicros ?? 0)) / load.requests, latencies };
}

const median = (values: number[]): number =>
  values.toSorted((one, two) => one - two)[values.length >> 1] ?? 0;

/** Measures the targets in turn, in several rounds. Returns the medians per target. */
async function measureLoad(targets: Measured[], load: Load & { name: string }): Promise<Row[]> {
  const results = new Map(
    targets.map((target) => [target.name, [] as Awaited<ReturnType<typeof measure>>[]]),
  );
  for (const target of targets) await runLoad(target, { ...load, requests: load.requests * WARM_UP_LOADS });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const target of targets) results.get(target.name)?.push(await measure(target, load));
  }
  const of = (name: string, pick: (result: Awaited<ReturnType<typeof measure>>) => number): number =>
    median((results.get(name) ?? []).map(pick));
  return targets
    .filter((target) => target.process)
    .map(({ name }) => ({
      target: name,
      load: load.name,
      cpuMicrosPerRequest: of(name, (result) => result.cpuMicros),
      ratio: of(name, (result) => result.cpuMicros) / of('bare Fastify', (result) => result.cpuMicros),
      addedP50Ms:
        of(name, (result) => result.latencies.p50Ms) - of('upstream', (result) => result.latencies.p50Ms),
      addedP99Ms:
        of(name, (result) => result.latencies.p99Ms) - of('upstream', (result) => result.latencies.p99Ms),
    }));
}

async function measureMemory(target: Measured): Promise<MemoryRow | undefined> {
  if (!target.process) return undefined;
  const before = await usageOf(target.process);
  const close = await openStreams({ ...target, model: HOLDING_MODEL }, OPEN_STREAMS);
  const after = await usageOf(target.process);
  await close();
  const kilobytesPerStream = (after.residentBytes - before.residentBytes) / 1024 / OPEN_STREAMS;
  return { target: target.name, streams: OPEN_STREAMS, kilobytesPerStream };
}

type Start = (entry: string, env?: Record<string, string>) => Promise<HouseProcess>;

/** Measures CPU, latency and memory of one node and of the targets that it is compared with. */
async function measureGateway(
  start: Start,
  origin: string,
  databaseUrl: string,
): Promise<{ rows: Row[]; memory: MemoryRow[] }> {
  const plain = await start('test/bench/plain.ts', { UPSTREAM: origin });
  const bare = await start('test/bench/pass-through.ts', { UPSTREAM: origin });
  const house = await startHouse({ databaseUrl, nodeExecArgv: PRELOAD });
  await addUpstream(house, { baseUrl: `${origin}/v1`, models: ['budget', HOLDING_MODEL] });
  const keys: string[] = [];
  for (let count = 0; count < OPEN_STREAMS; count += STREAMS_PER_WALLET) {
    keys.push((await addCustomer(house, '10000')).key);
  }
  const node = house.nodes[0]?.process;
  if (!node) throw new Error('The house has no node.');
  const common = { keys, model: 'budget' };
  const targets: Measured[] = [
    { name: 'upstream', url: origin, ...common },
    { name: 'node:http + undici', url: `http://127.0.0.1:${plain.port}`, process: plain, ...common },
    { name: 'bare Fastify', url: `http://127.0.0.1:${bare.port}`, process: bare, ...common },
    { name: 'gateway, mirrored', url: house.url, process: node, ...common },
  ];
  const rows: Row[] = [];
  for (const load of LOADS) rows.push(...(await measureLoad(targets, load)));
  const memory: MemoryRow[] = [];
  for (const target of targets) {
    const row = await measureMemory(target);
    if (row) memory.push(row);
  }
  await Promise.all([house.stop(), plain.stop(), bare.stop()]);
  return { rows, memory };
}

async function run(dataDir: string, databaseUrl: string): Promise<void> {
  const start: Start = (entry, env = {}) =>
    startProcess({ entry, env, execArgv: PRELOAD, logFile: join(dataDir, 'bench.log') });
  const upstream = await start('test/bench/upstream.ts');
  const origin = `http://127.0.0.1:${upstream.port}`;
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version, load: loadavg()[0] };
  process.stdout.write(
    `${machine.cores} × ${machine.cpu}, Node ${machine.node}, load ${machine.load?.toFixed(1)}\n\n`,
  );
  const results: { machine: object; wallet?: WalletFigures } = { machine };
  if (!WALLET_ONLY) {
    const { rows, memory } = await measureGateway(start, origin, databaseUrl);
    Object.assign(results, { rows, memory });
    process.stdout.write(`${table(rows)}\n\n${memoryTable(memory)}\n\n`);
  }
  results.wallet = await measureWallet(await anotherDatabase(databaseUrl), origin);
  process.stdout.write(`${walletTable(results.wallet)}\n`);
  mkdirSync(OUTPUT, { recursive: true });
  writeFileSync(join(OUTPUT, 'results.json'), JSON.stringify(results, null, 2));
  await upstream.stop();
}

/** Creates an empty database for the second house. */
async function anotherDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create database bench_wallet');
  await client.end();
  const another = new URL(url);
  another.pathname = '/bench_wallet';
  return another.href;
}

const dataDir = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
chmodSync(dataDir, 0o711);
const postgres = await startPostgres({ dataDir });
try {
  await run(dataDir, postgres.url);
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
