/** The short form of `npm run chaos`. */
import { expect, test } from 'vitest';
import { isClean, tableOf } from './report.ts';
import { runChaos } from './run.ts';

const DURATION_MS = 12_000;
const OUTAGE_MS = 10_000;
const WARM_UP_MS = 4_000;
const LIMIT_MS = 240_000;

test(
  'while processes die, freeze and lose each other, no micro-dollar is lost, made or charged twice',
  async () => {
    const seed = Number(process.env['CHAOS_SEED'] ?? Date.now() % 1_000_000);
    const report = await runChaos({ seed, durationMs: DURATION_MS, nodes: 2, say: () => undefined });
    const { comparison, walletDifferenceMicros, duplicates, negativeBalances } = report;
    const { openLeases, keptLeases, overLimits, alarms, crashes, invariants } = report;
    expect(
      {
        ...{ findings: comparison.findings, difference: comparison.differenceMicros },
        ...{
          walletDifferenceMicros,
          duplicates,
          negativeBalances,
          openLeases,
          keptLeases,
          overLimits,
          alarms,
          crashes,
          invariants,
        },
      },
      tableOf(report),
    ).toEqual({
      findings: [],
      difference: 0n,
      walletDifferenceMicros: 0n,
      duplicates: 0,
      negativeBalances: 0,
      openLeases: 0,
      keptLeases: [],
      overLimits: 0,
      alarms: 0,
      crashes: [],
      invariants: '',
    });
    expect(comparison.finished).toBeGreaterThan(0);
    expect(report.faults.length).toBeGreaterThan(3);
  },
  LIMIT_MS,
);

test(
  'while control plane and database are away, a node refuses only what none of its leases could pay',
  async () => {
    const seed = Number(process.env['CHAOS_SEED'] ?? Date.now() % 1_000_000);
    const outage = { plan: 'outage', durationMs: OUTAGE_MS, warmUpMs: WARM_UP_MS } as const;
    const report = await runChaos({ seed, nodes: 2, ...outage, say: () => undefined });
    const { coverage, comparison } = report;
    expect({ findings: coverage?.findings, guessed: coverage?.guessed }, tableOf(report)).toEqual({
      findings: [],
      guessed: 0,
    });
    expect(comparison.findings, tableOf(report)).toEqual([]);
    expect(isClean(report), tableOf(report)).toBe(true);
    expect(coverage?.served).toBeGreaterThan(0);
    expect(coverage?.refused).toBeGreaterThan(0);
  },
  LIMIT_MS,
);
