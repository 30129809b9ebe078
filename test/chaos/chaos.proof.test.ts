/** Storms with a new seed every day. `npm run chaos` runs for any time. */
import { expect, test } from 'vitest';
import { PROOF_SEED } from '../seeds.ts';
import { failuresOf, tableOf } from './report.ts';
import { runChaos } from './run.ts';

const STORMS = 3;
const STORM_MS = 20_000;
const LIMIT_MS = 300_000;
const WORKERS = 2;

const seeds = Array.from({ length: STORMS }, (_, number) => PROOF_SEED + number);

test.each(seeds)(
  'no micro-dollar is lost or created while processes are killed, frozen and disconnected (seed %i)',
  async (seed) => {
    const report = await runChaos({ seed, durationMs: STORM_MS, nodes: 2, print: () => undefined });
    expect(failuresOf(report), tableOf(report)).toEqual({});
    expect(report.comparison.finished).toBeGreaterThan(0);
    expect(report.faults.length).toBeGreaterThan(3);
    expect(report.payments.payments).toBeGreaterThan(0);
  },
  LIMIT_MS,
);

test(
  `no micro-dollar is lost or created while workers of nodes are killed and frozen, too (seed ${PROOF_SEED})`,
  async () => {
    const options = {
      seed: PROOF_SEED,
      durationMs: STORM_MS,
      nodes: 2,
      workers: WORKERS,
      print: () => undefined,
    };
    const report = await runChaos(options);
    expect(failuresOf(report), tableOf(report)).toEqual({});
    expect(report.comparison.finished).toBeGreaterThan(0);
    const killed = report.faults.filter(({ kind, target }) => kind === 'kill' && target.startsWith('worker'));
    expect(killed.length).toBeGreaterThan(0);
  },
  LIMIT_MS,
);
