/** A short run of `npm run soak` with two attacks. */
import { expect, test } from 'vitest';
import { judge } from './report.ts';
import { tableOf } from './report-table.ts';
import { runSoak } from './run.ts';

const LIMIT_MS = 240_000;
const ATTACKS = ['bodies of 1-byte chunks', 'refusals of a key without money'];

test(
  'honest clients get their answers while both planes are attacked, and no resource leaks',
  async () => {
    const record = await runSoak({
      ...{ seed: 7, quietMs: 10_000, attackMs: 5_000, warmUpMs: 5_000, restMs: 8_000, heapMegabytes: 512 },
      parts: ATTACKS.map((name) => [name]),
      print: () => undefined,
    });
    const report = judge(record);
    expect(record.deaths, tableOf(report)).toEqual([]);
    // Delay and throughput depend on the machine, so that `npm run soak` alone judges them.
    expect(
      report.faults.filter((fault) => !/livez|throughput/.test(fault)),
      tableOf(report),
    ).toEqual([]);
    expect(report.figures.map(({ name }) => name)).toEqual(['quiet', ...ATTACKS, 'rest']);
    for (const { requests } of report.figures) expect(requests).toBeGreaterThan(0);
  },
  LIMIT_MS,
);
