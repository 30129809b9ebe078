/** An outage of control plane and database with a new seed every day. */
import { expect, test } from 'vitest';
import { PROOF_SEED } from '../seeds.ts';
import { failuresOf, tableOf } from './report.ts';
import { runChaos } from './run.ts';

const OUTAGE_MS = 15_000;
const WARM_UP_MS = 4_000;
const LIMIT_MS = 300_000;

test(
  `a node refuses only what leases cannot pay while control plane and database are down (seed ${PROOF_SEED})`,
  async () => {
    const outage = { plan: 'outage', durationMs: OUTAGE_MS, warmUpMs: WARM_UP_MS } as const;
    const report = await runChaos({ seed: PROOF_SEED, nodes: 2, ...outage, print: () => undefined });
    expect(failuresOf(report), tableOf(report)).toEqual({});
    expect(report.coverage?.served).toBeGreaterThan(0);
    expect(report.coverage?.refused).toBeGreaterThan(0);
  },
  LIMIT_MS,
);
