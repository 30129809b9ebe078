/** Tests of the scan: every block is read, also in small ranges and after a reorganisation. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findFork, microsOf, nextRange, nextSize, RANGE_BLOCKS_MAX } from './scan.rules.ts';

const start = { cursor: 1000, fork: 1000, startBlock: 10, overlap: 24 };

describe('the next range', () => {
  it('begins at the first block if nothing was scanned, or no known block is left', () => {
    expect(nextRange({ ...start, cursor: null, fork: null }, 5000, 2000)).toEqual({ from: 10, to: 2009 });
    expect(nextRange({ ...start, fork: null }, 5000, 2000)).toEqual({ from: 10, to: 2009 });
    expect(nextRange({ ...start, cursor: null }, 5000, 2000)).toEqual({ from: 10, to: 2009 });
  });

  it('begins before the cursor, the fork and the head, whichever is lowest', () => {
    expect(nextRange(start, 1005, 2000)).toEqual({ from: 977, to: 1005 });
    expect(nextRange({ ...start, fork: 500 }, 1005, 2000)).toEqual({ from: 477, to: 1005 });
    expect(nextRange(start, 900, 2000)).toEqual({ from: 877, to: 900 });
  });

  it('does not begin before the first block, and is null while the chain is shorter', () => {
    expect(nextRange({ ...start, cursor: 12, fork: 12 }, 20, 2000)).toEqual({ from: 10, to: 20 });
    expect(nextRange(start, 9, 2000)).toBeNull();
    expect(nextRange(start, 10, 2000)).toEqual({ from: 10, to: 10 });
  });

  it('reaches the head in ranges of any size, without a gap', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 10, max: 200 }), (list, head) => {
        let cursor: number | null = null;
        for (let turn = 0; cursor !== head; turn += 1) {
          const size = list[turn % list.length] ?? 1;
          const range = nextRange({ ...start, cursor, fork: cursor }, head, size);
          if (!range) throw new Error('The scan ended before the head.');
          const known: number = cursor ?? 9;
          expect(range.from).toBeLessThanOrEqual(known + 1);
          expect(range.to).toBeGreaterThan(known);
          expect(range.to - range.from).toBeLessThan(size);
          cursor = range.to;
        }
      }),
    );
  });
});

describe('the size of a range', () => {
  it('is halved at a refusal down to one block, and doubled up to the maximum', () => {
    expect([nextSize(2000, true), nextSize(3, true), nextSize(1, true)]).toEqual([1000, 1, 1]);
    expect([nextSize(1, false), nextSize(700, false), nextSize(1500, false)]).toEqual([2, 1400, 2000]);
    expect(RANGE_BLOCKS_MAX).toBe(2000);
  });
});

describe('the fork', () => {
  const blocks = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ number: 100 + at * 3, hash: `0x${at}` }));

  it('is the highest stored block on the chain, for every number of blocks that remain', async () => {
    for (let count = 0; count <= 20; count += 1) {
      for (let kept = 0; kept <= count; kept += 1) {
        const stored = blocks(count);
        const remaining = new Set(stored.slice(0, kept));
        const found = await findFork(stored, async (block) => remaining.has(block));
        expect(found).toBe(kept === 0 ? null : 100 + (kept - 1) * 3);
      }
    }
  });

  it('is found with one request while the newest block remains', async () => {
    let asked = 0;
    await findFork(blocks(128), async () => ++asked > 0);
    expect(asked).toBe(1);
  });
});

describe('the value of an amount', () => {
  it('is exact for six decimals, and cut off below a micro-dollar for more', () => {
    expect(microsOf(1_234_567n, 6)).toBe(1_234_567n);
    expect(microsOf(1_234_567_999_999_999_999n, 18)).toBe(1_234_567n);
    expect(microsOf(999_999_999_999n, 18)).toBe(0n);
    expect(microsOf(19n, 7)).toBe(1n);
  });
});
