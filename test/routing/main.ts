/**
 * `npm run routing`: one slow upstream of four with fixed and with adaptive routing, on real processes.
 * Prints the times of clients and their ratio.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { startHouse } from '../house.ts';
import type { House } from '../house.ts';
import { startFleet } from './measure.ts';

const REQUESTS = 500;
/** Requests that are sent first, so that speeds are known. */
const WARM_UP = 100;

async function compare(house: House): Promise<void> {
  const fleet = await startFleet(house);
  const times: number[] = [];
  for (const routing of ['FIXED', 'FASTEST'] as const) {
    await fleet.measure(routing, WARM_UP);
    const { p95Ms, slowShare } = await fleet.measure(routing, REQUESTS);
    times.push(p95Ms);
    const share = `${(slowShare * 100).toFixed(1)} %`;
    process.stdout.write(`${routing}: p95 ${p95Ms.toFixed(0)} ms, ${share} of them at the slow one\n`);
  }
  const [fixed = 0, fastest = 1] = times;
  process.stdout.write(`ratio of p95: ${(fixed / fastest).toFixed(1)}\n`);
  await fleet.close();
}

const dataDir = mkdtempSync(join(tmpdir(), 'gateway-routing-'));
chmodSync(dataDir, 0o711);
const postgres = await startPostgres({ dataDir });
try {
  const house = await startHouse({ databaseUrl: postgres.url });
  try {
    await compare(house);
  } finally {
    await house.stop();
  }
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
