/**
 * Measures the throughput of one node with one worker and with several, at saturating load. Clients and
 * upstream need CPU time, too: the figures name it, because a machine with few cores has to share them.
 */
import { readFileSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import { Pool } from 'undici';
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import type { House } from '../house.ts';
import { childrenOf } from '../house/children.ts';
import { limitCpu } from './cpu-quota.ts';

const MODEL = 'budget';
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 10);
const WARM_UP_SECONDS = Number(process.env['BENCH_WARM_UP'] ?? 5);
/** Connections per worker, each with one request at a time. */
const CONNECTIONS = 16;
/** Wallets of the load, because a wallet may have 64 requests in flight. */
const WALLETS = 8;
/** Clock ticks of /proc per second: always 100 on Linux. */
const TICKS_PER_SECOND = 100;
const MICROS = 1_000_000;

/** One load: its name, and the path and body of its requests. */
interface WorkerLoad {
  name: string;
  path: string;
  body: string;
}

/** Throughput of a node with this number of workers. */
export interface WorkerFigures {
  load: string;
  workers: number;
  answeredPerSecond: number;
  /** CPU time per request in µs: of the node with its supervisor; of clients and upstream. */
  nodeMicros: number;
  clientMicros: number;
  /** Smallest and largest part of the CPU time that one worker had, 1 for an even distribution. */
  leastPart: number;
  /** Memory of all processes of the node, in MiB. */
  residentMebibytes: number;
}

/** Loads in which a node works much and its clients and the upstream little. */
const LOADS: readonly WorkerLoad[] = [
  {
    name: 'stream of 400 chunks, translated',
    path: '/v1/messages',
    body: JSON.stringify({
      ...{ model: MODEL, max_tokens: 1_000, stream: true },
      messages: [{ role: 'user', content: 'Say something.' }],
    }),
  },
  {
    name: 'stream of 400 chunks, same format',
    path: '/v1/chat/completions',
    body: JSON.stringify({
      ...{ model: MODEL, stream: true },
      messages: [{ role: 'user', content: 'Say something.' }],
    }),
  },
];

/** Subject of the measurement. */
interface WorkersPlan {
  /** Address of the upstream, and the pid of its process. */
  origin: string;
  upstream: number;
  workers: number;
  /** The part of a core that each worker may use, in percent; null for no limit. */
  share: number | null;
}

/** Measures each load with one worker and with `workers`. */
export async function measureWorkers(
  databaseUrls: readonly [string, string],
  { origin, upstream, workers, share }: WorkersPlan,
): Promise<WorkerFigures[]> {
  const figures: WorkerFigures[] = [];
  for (const [databaseUrl, count] of [[databaseUrls[0], 1] as const, [databaseUrls[1], workers] as const]) {
    const house = await startHouse({ databaseUrl, nodeEnv: { WORKERS: String(count) } });
    await addUpstream(house, { baseUrl: `${origin}/v1`, models: [MODEL] });
    const limits = share === null ? [] : pidsOf(house, count).workers.map((pid) => limitCpu(pid, share));
    const keys: string[] = [];
    while (keys.length < WALLETS) keys.push((await addCustomer(house, '100000')).key);
    for (const load of LOADS) {
      await offer(house.url, { load, keys, connections: CONNECTIONS * workers, seconds: WARM_UP_SECONDS });
      figures.push(await measure(house, { load, keys, count, connections: CONNECTIONS * workers, upstream }));
    }
    await house.stop();
    for (const remove of limits) remove();
  }
  return figures;
}

/** The processes of the node. One worker is its own supervisor. */
function pidsOf(house: House, count: number): { supervisor: number; workers: number[] } {
  const supervisor = house.nodes[0]?.process.child.pid ?? 0;
  return { supervisor, workers: count > 1 ? childrenOf(supervisor) : [supervisor] };
}

interface Measurement {
  load: WorkerLoad;
  keys: readonly string[];
  count: number;
  connections: number;
  upstream: number;
}

async function measure(
  house: House,
  { load, keys, count, connections, upstream }: Measurement,
): Promise<WorkerFigures> {
  const { supervisor, workers } = pidsOf(house, count);
  const node = [...new Set([supervisor, ...workers])];
  const read = () => ({ node: node.map(cpuMicrosOf), others: cpuMicrosOf(upstream) + ownMicros() });
  const before = read();
  const from = performance.now();
  const answered = await offer(house.url, { load, keys, connections, seconds: SECONDS });
  const seconds = (performance.now() - from) / 1_000;
  const after = read();
  const spent = after.node.map((micros, index) => micros - (before.node[index] ?? 0));
  const parts = spent.slice(node.length - workers.length);
  const total = spent.reduce((sum, micros) => sum + micros, 0);
  return {
    load: load.name,
    workers: count,
    answeredPerSecond: answered / seconds,
    nodeMicros: total / answered,
    clientMicros: (after.others - before.others) / answered,
    leastPart: Math.min(...parts) / Math.max(...parts),
    residentMebibytes: node.reduce((sum, pid) => sum + residentMebibytesOf(pid), 0),
  };
}

interface Offer {
  load: WorkerLoad;
  keys: readonly string[];
  connections: number;
  seconds: number;
}

/** Closed loops over these connections. Returns the number of answers; throws on any other than 200. */
async function offer(url: string, { load, keys, connections, seconds }: Offer): Promise<number> {
  const until = performance.now() + seconds * 1_000;
  const pool = new Pool(url, { connections, pipelining: 1 });
  let answered = 0;
  const client = async (_: unknown, index: number): Promise<void> => {
    const authorization = `Bearer ${keys[index % keys.length]}`;
    const headers = { 'content-type': 'application/json', authorization };
    while (performance.now() < until) {
      const answer = await pool.request({ path: load.path, method: 'POST', body: load.body, headers });
      if (answer.statusCode !== 200)
        throw new Error(`${answer.statusCode}: ${(await answer.body.text()).slice(0, 300)}`);
      await finished(answer.body.resume());
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  await pool.close();
  return answered;
}

/** User and system time of a process in µs, in steps of 10 ms. */
function cpuMicrosOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * MICROS) / TICKS_PER_SECOND;
}

function ownMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function residentMebibytesOf(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes ?? 0) / 1_024;
}

const HEAD = [
  ...['load', 'workers', 'requests/s', '× one worker', 'CPU µs of the node', 'CPU µs of clients, upstream'],
  ...['least ÷ most busy worker', 'MiB', '× one worker, computed from CPU time of a core each'],
];

/** The figures as a Markdown table, with the factor between one worker and several. */
export function workersTable(figures: readonly WorkerFigures[]): string {
  const cells = (row: WorkerFigures): string[] => {
    const one = figures.find(({ load, workers }) => load === row.load && workers === 1);
    const factor = row.answeredPerSecond / (one?.answeredPerSecond ?? row.answeredPerSecond);
    return [
      ...[row.load, String(row.workers), row.answeredPerSecond.toFixed(0), factor.toFixed(2)],
      ...[row.nodeMicros.toFixed(0), row.clientMicros.toFixed(0), row.leastPart.toFixed(2)],
      row.residentMebibytes.toFixed(0),
      ((row.workers * (one?.nodeMicros ?? row.nodeMicros)) / row.nodeMicros).toFixed(2),
    ];
  };
  const line = (texts: readonly string[]): string => `| ${texts.join(' | ')} |`;
  return [line(HEAD), line(HEAD.map(() => '---')), ...figures.map((row) => line(cells(row)))].join('\n');
}
