/**
 * `npm run bench`: compares this gateway with a bare Fastify pass-through and with node:http + undici, in one
 * run on one machine; then measures one wallet over two nodes. Each process reports its own CPU time. Added
 * latency is the time beyond that of a request directly to the upstream. `--endurance` measures memory alone.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import type { House } from '../house.ts';
import { startProcess } from '../house/process.ts';
import type { HouseProcess } from '../house/process.ts';
import { prepareCommit } from './requests/compare.ts';
import type { OtherCommit } from './requests/compare.ts';
import { diskText, measureDisk } from './requests/disk.ts';
import { FORMATS } from './requests/formats.ts';
import type { Format } from './requests/formats.ts';
import { runLoad } from './requests/load.ts';
import { DIRECT, GATEWAY, REFERENCE, measure, measureMemory, warmUp } from './requests/measure.ts';
import type { Measured } from './requests/measure.ts';
import { helpText, readOptions } from './requests/options.ts';
import type { BenchOptions } from './requests/options.ts';
import { profiled } from './requests/processes.ts';
import { memoryTable, profileTable, requestTable } from './requests/report.ts';
import { HOLDING_MODEL, MODELS, PACED_MODEL, workloads } from './requests/workloads.ts';
import type { Workload } from './requests/workloads.ts';
import { measureEndurance } from './endurance.ts';
import { enduranceTable } from './endurance-figures.ts';
import { walletTable } from './table.ts';
import { measureWallet } from './wallet.ts';

const PRELOAD = ['--expose-gc', '--import', join(import.meta.dirname, 'report-usage.ts')];
const OUTPUT = join(import.meta.dirname, '..', '..', '.bench');
/** Below the gateway's limit of requests in progress per wallet. */
const STREAMS_PER_WALLET = 50;
/** Customers, so that no wallet reaches its limit of concurrent requests. */
const WALLETS_MIN = 8;
/** Registrations from one address are limited. For more streams the limits of a wallet are raised. */
const WALLETS_MAX = 20;
/** The highest limit of requests in progress that can be configured. */
const CONCURRENT_REQUESTS_MAX = 10_000;
const MUCH_MONEY = '1000000';
const PROTOCOLS: Readonly<Record<Format, string>> = {
  ...{ chat: 'CHAT_COMPLETIONS', responses: 'RESPONSES' },
  ...{ messages: 'MESSAGES', generative: 'GENERATIVE_LANGUAGE' },
};

type Start = (entry: string, env?: Record<string, string>) => Promise<HouseProcess>;

/** The options of a run, and the programs and places that it uses. */
interface Bench {
  options: BenchOptions;
  start: Start;
  origin: string;
  databaseUrl: string;
  postgresPid: number;
  /** A folder on the disk of the database and of the journals. */
  dataDir: string;
  other: OtherCommit | undefined;
}

/** An upstream for each format, and the models that are paced or stay open. */
async function addUpstreams(house: House, origin: string): Promise<void> {
  for (const format of FORMATS) {
    const models = format === 'chat' ? [MODELS.chat, PACED_MODEL, HOLDING_MODEL] : [MODELS[format]];
    const baseUrl = `${origin}/${format === 'generative' ? 'v1beta' : 'v1'}`;
    await addUpstream(house, { name: format, protocol: PROTOCOLS[format], baseUrl, models });
  }
}

/** The gateway with money for many requests. With another commit its node is the second one. */
async function startGateway({
  options,
  origin,
  databaseUrl,
  other,
}: Bench): Promise<{ house: House; keys: string[] }> {
  const house = await startHouse({
    ...{ databaseUrl, nodeExecArgv: PRELOAD, nodes: other ? 2 : 1 },
    nodeEnv: { WORKERS: String(options.workers) },
    ...(other && { nodeEntries: ['data-plane/main.ts', other.nodeEntry] }),
  });
  try {
    await addUpstreams(house, origin);
    return { house, keys: await addWallets(house, Math.max(0, ...options.streams)) };
  } catch (error) {
    // Otherwise its processes would keep running.
    await house.stop();
    throw error;
  }
}

/** Creates customers, enough for this number of open streams, and returns their keys. */
async function addWallets(house: House, streams: number): Promise<string[]> {
  const wallets = Math.min(WALLETS_MAX, Math.max(WALLETS_MIN, streams / STREAMS_PER_WALLET));
  const keys: string[] = [];
  while (keys.length < wallets) keys.push((await addCustomer(house, MUCH_MONEY)).key);
  if (streams > keys.length * STREAMS_PER_WALLET) await raiseLimits(house);
  return keys;
}

/** Sets the limits of requests in progress per wallet and per key to their highest values. */
async function raiseLimits(house: House): Promise<void> {
  const limits = {
    concurrentRequestsPerWallet: CONCURRENT_REQUESTS_MAX,
    concurrentRequestsPerKey: CONCURRENT_REQUESTS_MAX,
  };
  const document = JSON.stringify({ version: 1, limits });
  const input = { document, secrets: [], dryRun: false, reason: 'benchmark' };
  await house.admin.mutate('adminConfigurationApply', input, 'state');
  await house.applied();
}

/** The measured targets: the references, then the nodes. */
async function startTargets(bench: Bench, house: House, keys: string[]): Promise<Measured[]> {
  const plain = await bench.start('test/bench/plain.ts', { UPSTREAM: bench.origin });
  const bare = await bench.start('test/bench/pass-through.ts', { UPSTREAM: bench.origin });
  const helpers = [house.control.child.pid, bench.postgresPid].filter((pid) => pid !== undefined);
  const nodes = house.nodes.map(({ url, process }, at): Measured => {
    const name = at === 0 ? GATEWAY : `${GATEWAY} at ${bench.options.compare}`;
    const { dataDir: writesTo } = bench;
    return { name, url, process, keys, helpers, hasWorkers: bench.options.workers > 1, writesTo };
  });
  return [
    { name: DIRECT, url: bench.origin, keys },
    { name: 'node:http + undici', url: `http://127.0.0.1:${plain.port}`, process: plain, keys },
    { name: REFERENCE, url: `http://127.0.0.1:${bare.port}`, process: bare, keys },
    ...nodes,
  ];
}

/** Profiles the node in one workload, after a warm-up. */
async function profile(targets: readonly Measured[], workload: Workload): Promise<string> {
  const node = targets.find(({ name }) => name === GATEWAY);
  if (!node?.process) throw new Error('There is no node to profile.');
  await warmUp(node, workload);
  const work = async (): Promise<void> => {
    for (let round = 0; round < 3; round += 1) await runLoad(node, workload, workload.load);
  };
  return profileTable(await profiled(node.process, work));
}

async function measureGateway(bench: Bench): Promise<object> {
  const { house, keys } = await startGateway(bench);
  const targets = await startTargets(bench, house, keys);
  const { options } = bench;
  const all = workloads();
  try {
    const profiledLoad = all.find(({ name }) => name === options.profile);
    if (profiledLoad) {
      process.stdout.write(`${await profile(targets, profiledLoad)}\n`);
      return {};
    }
    const rows = [];
    for (const workload of all.filter(({ name }) => options.workloads.includes(name)))
      rows.push(...(await measure(targets, workload, options.rounds)));
    const memory = [];
    for (const streams of options.streams)
      for (const target of targets) memory.push(await measureMemory(target, streams));
    const measured = memory.filter((row) => row !== undefined);
    process.stdout.write(`${requestTable(rows)}\n\n`);
    if (measured.length > 0) process.stdout.write(`${memoryTable(measured)}\n\n`);
    return { rows, memory: measured };
  } finally {
    await house.stop();
    await Promise.all(targets.flatMap(({ process }) => (process ? [process.stop()] : [])));
  }
}

async function run(bench: Bench): Promise<void> {
  const { options, dataDir } = bench;
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version, load: loadavg()[0] };
  const disk = await measureDisk(dataDir);
  process.stdout.write(
    `${machine.cores} × ${machine.cpu}, Node ${machine.node}, load ${machine.load?.toFixed(1)}; ` +
      `${diskText(disk)}\n\n`,
  );
  const results: Record<string, unknown> = { machine, disk };
  if (options.workloads.length > 0 || options.profile !== undefined)
    Object.assign(results, await measureGateway(bench));
  if (options.wallet) {
    const databaseUrl = await anotherDatabase(bench.databaseUrl, 'bench_wallet');
    const wallet = await measureWallet(databaseUrl, bench.origin);
    process.stdout.write(`${walletTable(wallet)}\n`);
    Object.assign(results, { wallet });
  }
  if (options.endurance) {
    const { origin, postgresPid } = bench;
    const databaseUrl = await anotherDatabase(bench.databaseUrl, 'bench_endurance');
    const setting = { databaseUrl, postgresPid, origin, execArgv: PRELOAD };
    const endurance = await measureEndurance(setting, options.endurance);
    process.stdout.write(`\n${enduranceTable(endurance)}\n`);
    if (endurance.faults.length > 0) process.exitCode = 1;
    Object.assign(results, { endurance });
  }
  mkdirSync(OUTPUT, { recursive: true });
  writeFileSync(join(OUTPUT, 'results.json'), JSON.stringify(results, null, 2));
}

/** Creates an empty database for another house. */
async function anotherDatabase(url: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const another = new URL(url);
  another.pathname = `/${name}`;
  return another.href;
}

async function main(options: BenchOptions): Promise<void> {
  const other = options.compare === undefined ? undefined : prepareCommit(options.compare);
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  chmodSync(dataDir, 0o711);
  const start: Start = (entry, env = {}) =>
    startProcess({ entry, env, execArgv: PRELOAD, logFile: join(dataDir, 'bench.log') });
  const postgres = await startPostgres({ dataDir });
  const upstream = await start('test/bench/requests/upstream.ts');
  const origin = `http://127.0.0.1:${upstream.port}`;
  try {
    await run({
      options,
      start,
      origin,
      databaseUrl: postgres.url,
      postgresPid: postgres.pid,
      dataDir,
      other,
    });
  } finally {
    await upstream.stop();
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
    other?.remove();
  }
}

const names = workloads().map(({ name }) => name);
try {
  const options = readOptions(process.argv.slice(2), names);
  if (options === 'help') process.stdout.write(helpText(names));
  else await main(options);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
