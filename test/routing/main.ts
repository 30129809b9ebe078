/**
 * `npm run routing`: the choice of routes on real processes. First one slow upstream of four, with fixed and
 * with adaptive routing; then upstreams with a heavy tail, without and with second requests (hedging).
 * Prints the times of clients, and writes them to `.bench/routing.json`.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { startHouse } from '../house.ts';
import type { House } from '../house.ts';
import { FIXED_SEED } from '../seeds.ts';
import { startFleet } from './measure.ts';
import { startTail } from './tail.ts';

const REQUESTS = 500;
/** Requests that are sent first, so that speeds are known. */
const WARM_UP = 100;
/** Requests to upstreams with a heavy tail: enough for a 99th percentile. */
const TAIL_REQUESTS = 2_000;

async function compareRouting(house: House): Promise<object> {
  const fleet = await startFleet(house);
  const figures = [];
  for (const routing of ['FIXED', 'FASTEST'] as const) {
    await fleet.measure(routing, WARM_UP);
    const { p95Ms, slowShare } = await fleet.measure(routing, REQUESTS);
    figures.push({ routing, p95Ms, slowShare });
    print(`${routing}: p95 ${ms(p95Ms)}, ${percent(slowShare)} of the requests at the slow upstream`);
  }
  const [fixed, fastest] = figures;
  print(`ratio of p95: ${((fixed?.p95Ms ?? 0) / (fastest?.p95Ms ?? 1)).toFixed(1)}`);
  await fleet.close();
  return figures;
}

async function compareHedging(house: House): Promise<object> {
  const tail = await startTail(house, FIXED_SEED);
  const figures = [];
  for (const hedged of [false, true]) {
    await tail.measure(hedged, WARM_UP);
    const measured = await tail.measure(hedged, TAIL_REQUESTS);
    figures.push({ hedged, ...measured });
    const { p50Ms, p95Ms, p99Ms, extraRequests, pricesCharged } = measured;
    print(
      `${hedged ? 'hedged' : 'not hedged'}: p50 ${ms(p50Ms)}, p95 ${ms(p95Ms)}, p99 ${ms(p99Ms)}, ` +
        `${extraRequests} extra requests (${percent(extraRequests / TAIL_REQUESTS)}), ` +
        `${pricesCharged} prices charged for ${TAIL_REQUESTS} requests`,
    );
  }
  await tail.close();
  return figures;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

const dataDir = mkdtempSync(join(tmpdir(), 'gateway-routing-'));
chmodSync(dataDir, 0o711);
const postgres = await startPostgres({ dataDir });
try {
  const house = await startHouse({ databaseUrl: postgres.url });
  try {
    const figures = { routing: await compareRouting(house), hedging: await compareHedging(house) };
    mkdirSync('.bench', { recursive: true });
    writeFileSync('.bench/routing.json', `${JSON.stringify(figures, undefined, 2)}\n`);
  } finally {
    await house.stop();
  }
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
