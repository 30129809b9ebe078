/**
 * `npm run bench:ledger`: measures what the money of one request costs a node: hold, commit to a journal on a
 * real disk, and settle over the real protocol. Prints the figures and writes `.bench/ledger.json`. The
 * control plane keeps accounts in the memory of another process; its CPU is not counted.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UsageRecord } from '@gateway/shared/records';
import { connectControl } from '../../data-plane/control/client.ts';
import { keyOf, usageOf } from '../ledger/records.ts';
import type { Hold } from '../../data-plane/ledger/ledger.ts';
import { openLedger } from '../../data-plane/ledger/open-ledger.ts';
import type { OpenLedger } from '../../data-plane/ledger/open-ledger.ts';
import { newRequestId } from '../../data-plane/call/timed-id.ts';
import { startProcess } from '../house/process.ts';
import type { BankCounts } from './bank.ts';

const PRICE = 100n;
/** Enough requests that the measured code is compiled. */
const WARM_UP = 100_000;
const REQUESTS = 400_000;
/** Requests that start at a fixed rate, even if earlier ones have not ended. */
const CLOCKED = { perSecond: 1_000, requests: 15_000 };
/** Requests in flight at once (many share one write, few do not), or requests at a fixed rate. */
const LOADS: Load[] = [{ atOnce: 64 }, { atOnce: 8 }, { perSecond: CLOCKED.perSecond }];
const ENCODINGS = 100_000;
const OUTPUT = join(import.meta.dirname, '..', '..', '.bench');

type Load = { atOnce: number } | { perSecond: number };

interface Figures {
  load: string;
  cpuMicros: number;
  /** The part of `cpuMicros` that the benchmark itself takes. */
  loopMicros: number;
  kernelMicros: number;
  perSecond: number;
  waitP50Ms: number;
  waitP99Ms: number;
  reports: number;
  leases: number;
}

/** Spends under a load. Returns the cost of one request. */
async function measure(load: Load): Promise<Figures> {
  const requests = requestsOf(load);
  const folder = mkdtempSync(join(tmpdir(), 'gateway-ledger-'));
  const logFile = join(folder, 'bank.log');
  const bank = await startProcess({ entry: 'test/bench/bank.ts', env: {}, logFile });
  const url = `http://127.0.0.1:${bank.port}`;
  const control = connectControl({ urls: [url], token: 'gnt_bench' });
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const ledger = await openLedger({ folder: join(folder, 'journal'), control, log });
  ledger.connect('node_1');
  await spend(ledger, { from: 0, upTo: WARM_UP }, { atOnce: 64 });
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const waits = await spend(ledger, { from: WARM_UP, upTo: WARM_UP + requests }, load);
  while (ledger.usageBacklog > 0) {
    await sleep(20);
  }
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - startedAt) / 1_000;
  const counts = (await (await fetch(url)).json()) as BankCounts;
  if (counts.charges !== WARM_UP + requests) throw new Error(`${counts.charges} charges were settled`);
  await ledger.close();
  await Promise.all([control.stop(), bank.stop()]);
  rmSync(folder, { recursive: true, force: true });
  waits.sort((one, other) => one - other);
  return {
    load: 'atOnce' in load ? `${load.atOnce} at once` : `${load.perSecond} a second`,
    cpuMicros: (user + system) / requests,
    loopMicros: await measureLoop(load),
    kernelMicros: system / requests,
    perSecond: Math.round(requests / seconds),
    waitP50Ms: waits[Math.floor(waits.length * 0.5)] ?? 0,
    waitP99Ms: waits[Math.floor(waits.length * 0.99)] ?? 0,
    reports: counts.reports,
    leases: counts.leases,
  };
}

function requestsOf(load: Load): number {
  return 'atOnce' in load ? REQUESTS : CLOCKED.requests;
}

interface Spending {
  from: number;
  upTo: number;
}

/** Spends once per request. Returns how long each request waited for its commit, in ms. */
async function spend(
  ledger: Pick<OpenLedger, 'hold'>,
  { from, upTo }: Spending,
  load: Load,
): Promise<number[]> {
  const key = keyOf('wallet_a');
  // Parsed, so that each member name is one flat string: concatenated strings cost more to write.
  const usage = JSON.parse(JSON.stringify(usageOf('', PRICE))) as UsageRecord;
  const waits: number[] = [];
  let number = from;
  const one = async (): Promise<void> => {
    number += 1;
    const hold = await ledger.hold(key, PRICE);
    const committing = performance.now();
    await hold.commit({ ...usage, requestId: newRequestId(), at: Date.now() });
    waits.push(performance.now() - committing);
  };
  const worker = async (): Promise<void> => {
    while (number < upTo) await one();
  };
  if ('atOnce' in load) {
    await Promise.all(Array.from({ length: load.atOnce }, worker));
    return waits;
  }
  const startedAt = performance.now();
  const all: Promise<void>[] = [];
  while (number < upTo) {
    const due = from + Math.floor(((performance.now() - startedAt) * load.perSecond) / 1_000);
    while (number < Math.min(due, upTo)) all.push(one());
    await sleep(1);
  }
  await Promise.all(all);
  return waits;
}

/**
 * CPU per request of the same load on a ledger that does nothing, in µs: the share of the benchmark itself.
 */
async function measureLoop(load: Load): Promise<number> {
  const requests = requestsOf(load);
  const hold: Hold = { commit: () => Promise.resolve(), release: () => undefined };
  const ledger = { hold: () => Promise.resolve(hold) };
  await spend(ledger, { from: 0, upTo: WARM_UP }, { atOnce: 64 });
  const before = process.cpuUsage();
  await spend(ledger, { from: WARM_UP, upTo: WARM_UP + requests }, load);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

/** CPU of writing such a record as JSON and reading it once, in µs: a measure of this machine's speed. */
function measureEncoding(): number {
  const record = usageOf('request', PRICE);
  for (let round = 0; round < ENCODINGS; round += 1) JSON.parse(JSON.stringify(record));
  const before = process.cpuUsage();
  for (let round = 0; round < ENCODINGS; round += 1) JSON.parse(JSON.stringify(record));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / ENCODINGS;
}

const rows: Figures[] = [];
for (const load of LOADS) rows.push(await measure(load));
const encodingMicros = measureEncoding();
mkdirSync(OUTPUT, { recursive: true });
writeFileSync(join(OUTPUT, 'ledger.json'), JSON.stringify({ encodingMicros, rows }, null, 2));
const line = (name: string, pick: (row: Figures) => string | number): string =>
  `| ${name} | ${rows.map(pick).join(' | ')} |`;
process.stdout.write(
  [
    line('hold + commit + settle', (row) => row.load),
    `|---|${'---|'.repeat(rows.length)}`,
    line('CPU per request, µs', (row) => row.cpuMicros.toFixed(1)),
    line('of these the benchmark itself, µs', (row) => row.loopMicros.toFixed(1)),
    line('CPU as a multiple of JSON of such a record', (row) => (row.cpuMicros / encodingMicros).toFixed(1)),
    line('of these in the kernel, µs', (row) => row.kernelMicros.toFixed(1)),
    line('requests per second', (row) => row.perSecond),
    line('wait for the commit p50, ms', (row) => row.waitP50Ms.toFixed(2)),
    line('wait for the commit p99, ms', (row) => row.waitP99Ms.toFixed(2)),
    line('reports to the control plane', (row) => row.reports),
    line('lease requests', (row) => row.leases),
    '',
    `JSON of such a record, written and read once: ${encodingMicros.toFixed(1)} µs`,
    '',
  ].join('\n'),
);
