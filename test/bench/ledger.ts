/**
 * What the money of one request costs a node: hold, commit to a journal on a real disk, settle over the real
 * wire. Run it with `npm run bench:ledger`; `.bench/ledger.json` has the figures, too. The control plane is a
 * table in the memory of another process: its CPU is not counted.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectControl } from '../../data-plane/control.ts';
import { keyOf, usageOf } from '../../data-plane/ledger/model/records.ts';
import { openLedger } from '../../data-plane/ledger/open-ledger.ts';
import type { OpenLedger } from '../../data-plane/ledger/open-ledger.ts';
import { startProcess } from '../house/process.ts';
import type { BankCounts } from './bank.ts';

const PRICE = 100n;
const WARM_UP = 5_000;
const REQUESTS = 100_000;
/** How many requests are in flight at once: many share one write, few do not. */
const CROWDS = [64, 8];
const OUTPUT = join(import.meta.dirname, '..', '..', '.bench');

interface Figures {
  atOnce: number;
  cpuMicros: number;
  kernelMicros: number;
  perSecond: number;
  waitP50Ms: number;
  waitP99Ms: number;
  reports: number;
  leases: number;
}

/** Spends with so many requests in flight, and says what one of them cost. */
async function measure(atOnce: number): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-ledger-'));
  const logFile = join(folder, 'bank.log');
  const bank = await startProcess({ entry: 'test/bench/bank.ts', env: {}, logFile });
  const url = `http://127.0.0.1:${bank.port}`;
  const control = connectControl({ urls: [url], token: 'gnt_bench' });
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const ledger = await openLedger({ folder: join(folder, 'journal'), control, log });
  ledger.connect('node_1');
  await spend(ledger, { atOnce, from: 0, upTo: WARM_UP });
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const waits = await spend(ledger, { atOnce, from: WARM_UP, upTo: WARM_UP + REQUESTS });
  while (ledger.usageBacklog > 0) {
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - startedAt) / 1_000;
  const counts = (await (await fetch(url)).json()) as BankCounts;
  if (counts.charges !== WARM_UP + REQUESTS) throw new Error(`${counts.charges} charges were settled`);
  await ledger.close();
  await Promise.all([control.stop(), bank.stop()]);
  rmSync(folder, { recursive: true, force: true });
  waits.sort((one, other) => one - other);
  return {
    atOnce,
    cpuMicros: (user + system) / REQUESTS,
    kernelMicros: system / REQUESTS,
    perSecond: Math.round(REQUESTS / seconds),
    waitP50Ms: waits[Math.floor(waits.length * 0.5)] ?? 0,
    waitP99Ms: waits[Math.floor(waits.length * 0.99)] ?? 0,
    reports: counts.reports,
    leases: counts.leases,
  };
}

interface Spending {
  atOnce: number;
  from: number;
  upTo: number;
}

/** Returns how long each request waited for its commit, in ms. */
async function spend(ledger: OpenLedger, { atOnce, from, upTo }: Spending): Promise<number[]> {
  const key = keyOf('wallet_a');
  const waits: number[] = [];
  let number = from;
  const worker = async (): Promise<void> => {
    while (number < upTo) {
      number += 1;
      const id = `request_${number}`;
      const hold = await ledger.hold(key, PRICE);
      const committing = performance.now();
      await hold.commit(usageOf(id, PRICE));
      waits.push(performance.now() - committing);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return waits;
}

const rows: Figures[] = [];
for (const atOnce of CROWDS) rows.push(await measure(atOnce));
mkdirSync(OUTPUT, { recursive: true });
writeFileSync(join(OUTPUT, 'ledger.json'), JSON.stringify(rows, null, 2));
const line = (name: string, pick: (row: Figures) => string | number): string =>
  `| ${name} | ${rows.map(pick).join(' | ')} |`;
process.stdout.write(
  [
    line('hold + commit + settle, at once', (row) => row.atOnce),
    `|---|${'---|'.repeat(rows.length)}`,
    line('CPU a request, µs', (row) => row.cpuMicros.toFixed(1)),
    line('of these in the kernel, µs', (row) => row.kernelMicros.toFixed(1)),
    line('requests a second', (row) => row.perSecond),
    line('wait for the commit p50, ms', (row) => row.waitP50Ms.toFixed(2)),
    line('wait for the commit p99, ms', (row) => row.waitP99Ms.toFixed(2)),
    line('reports to the control plane', (row) => row.reports),
    line('leases asked for', (row) => row.leases),
    '',
  ].join('\n'),
);
