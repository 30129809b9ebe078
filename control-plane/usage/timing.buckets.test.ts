/** Buckets of times: whole numbers, ascending, and close to the times that they hold. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUCKET_BOUNDS_MS, middleOf } from './timing.buckets.ts';

const last = BUCKET_BOUNDS_MS.length - 1;

/** The bucket of a time, found like `width_bucket` of PostgreSQL. */
const bucketOf = (ms: number): number => BUCKET_BOUNDS_MS.findLastIndex((bound) => bound <= ms);

describe('buckets of times', () => {
  it('begin at whole and ascending numbers', () => {
    expect(BUCKET_BOUNDS_MS.every(Number.isInteger)).toBe(true);
    expect(BUCKET_BOUNDS_MS).toEqual([...new Set(BUCKET_BOUNDS_MS)].toSorted((left, right) => left - right));
  });

  it('have a middle within 3.2 % of each of their times, and exact below 32 ms', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: (BUCKET_BOUNDS_MS[last] ?? 0) - 1 }), (ms) => {
        const error = Math.abs(middleOf(bucketOf(ms)) - ms);
        expect(error).toBeLessThanOrEqual(ms < 32 ? 0 : 0.032 * ms);
      }),
      { numRuns: 5000 },
    );
  });

  it('are refused if they are unknown', () => {
    expect(() => middleOf(last + 1)).toThrow(RangeError);
  });
});
