/** Tests of the decision whether an automatic top-up begins. */
import { describe, expect, it } from 'vitest';
import { AUTO_RETRY_MS, decideAuto } from './auto.rules.ts';
import type { AutoFacts } from './auto.rules.ts';

const due: AutoFacts = {
  ...{ enabled: true, balance: 4n, threshold: 5n, amount: 10n, monthlyCap: 30n, spentThisMonth: 20n },
  ...{ failures: 0, failedAt: null, inFlight: false, hasCard: true, isActive: true },
};
const NOON = new Date('2026-01-01T12:00:00Z');

describe('decideAuto', () => {
  it.each([
    ['BEGIN', {}],
    ['DISABLED', { enabled: false }],
    ['DISABLED', { hasCard: false }],
    ['DISABLED', { isActive: false }],
    ['IN_FLIGHT', { inFlight: true }],
    ['OFF', { failures: 3 }],
    ['BEGIN', { failures: 2, failedAt: new Date(NOON.getTime() - AUTO_RETRY_MS) }],
    ['WAIT', { failures: 1, failedAt: new Date(NOON.getTime() - AUTO_RETRY_MS + 1) }],
    ['ENOUGH', { balance: 5n }],
    ['CAP', { spentThisMonth: 21n }],
  ] as const)('is %s, row %#', (decision, change) => {
    expect(decideAuto({ ...due, ...change }, NOON)).toBe(decision);
  });
});
