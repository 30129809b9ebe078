/** The tables of the benchmark. */
import { describe, expect, it } from 'vitest';
import { walletTable } from './table.ts';

describe('the table of one wallet', () => {
  it('counts every commit beyond the idle rate, including those of the settlement', () => {
    const lines = walletTable({
      offeredPerSecond: 1_000,
      answeredPerSecond: 1_000,
      answered: 2_000,
      refused: { 429: 3 },
      answerP50Ms: 1,
      answerP99Ms: 2,
      commitP50Ms: 1,
      commitP99Ms: 2,
      database: {
        leasesGranted: 4,
        settlementBatches: 10,
        ledgerTransactions: 14,
        charges: 2_000,
        transactions: 120,
      },
      leasesInAll: 9,
      idleTransactionsPerSecond: 5,
      seconds: 4,
    }).split('\n');
    expect(lines).toContain('| ledger transactions per 1,000 requests | 7.0 |');
    const label = 'commits of PostgreSQL beyond its idle rate, per 1,000 requests';
    expect(lines).toContain(`| ${label} | 50.0 |`);
  });
});
