import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formerWorkers, partOf, settledMark, workerFolder } from './worker.ts';

const partsOf = (limit: number, of: number): number[] =>
  Array.from({ length: of }, (_, index) => partOf(limit, { number: index + 1, of }));

describe('the parts of a limit', () => {
  it('add up to the limit, and differ by at most 1', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 128 }), fc.nat(1_000_000), (of, more) => {
        const parts = partsOf(of + more, of);
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(of + more);
        expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('are 1 each if there are more workers than the limit allows', () => {
    expect(partsOf(10, 16)).toEqual(Array.from({ length: 16 }, () => 1));
  });
});

describe('former workers', () => {
  it('are those above the present number with a journal that is not marked as settled', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-workers-'));
    expect(formerWorkers(folder, 1)).toEqual([]);
    for (const number of [2, 3, 4, 10])
      mkdirSync(join(workerFolder(folder, number), 'journal'), { recursive: true });
    mkdirSync(workerFolder(folder, 5));
    writeFileSync(settledMark(workerFolder(folder, 4)), '');
    expect(formerWorkers(folder, 2)).toEqual([3, 10]);
    rmSync(folder, { recursive: true });
  });
});
