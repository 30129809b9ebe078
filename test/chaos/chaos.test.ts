/** The short form of `npm run chaos`. */
import { expect, test } from 'vitest';
import { tableOf } from './report.ts';
import { runChaos } from './run.ts';

const DURATION_MS = 12_000;
const LIMIT_MS = 150_000;

test(
  'while processes die, freeze and lose each other, no micro-dollar is lost, made or charged twice',
  async () => {
    const seed = Number(process.env['CHAOS_SEED'] ?? Date.now() % 1_000_000);
    const report = await runChaos({ seed, durationMs: DURATION_MS, nodes: 2, say: () => undefined });
    const { comparison, walletDifferenceMicros, duplicates, negativeBalances } = report;
    const { openLeases, alarms, crashes, invariants } = report;
    expect(
      {
        ...{ findings: comparison.findings, difference: comparison.differenceMicros },
        ...{ walletDifferenceMicros, duplicates, negativeBalances, openLeases, alarms, crashes, invariants },
      },
      tableOf(report),
    ).toEqual({
      findings: [],
      difference: 0n,
      walletDifferenceMicros: 0n,
      duplicates: 0,
      negativeBalances: 0,
      openLeases: 0,
      alarms: 0,
      crashes: [],
      invariants: '',
    });
    expect(comparison.finished).toBeGreaterThan(0);
    expect(report.faults.length).toBeGreaterThan(3);
  },
  LIMIT_MS,
);
