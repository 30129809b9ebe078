/**
 * Buckets of times in milliseconds, whose counts can be added up over hours and dimensions. Times below 32 ms
 * have a bucket each; above, every doubling has 16 buckets, so that the middle of a bucket differs from each
 * of its times by at most 3.2 %. Pure.
 */

/** Number of buckets between a power of two and the next one, also the number of the first exact buckets. */
const STEPS = 16;
/** The last bucket begins below 2 to this power, which is 70 minutes, and takes all longer times. */
const LAST_POWER = 22;

/** Lower bounds of the buckets in ms, ascending. The position of a bound is the number of its bucket. */
export const BUCKET_BOUNDS_MS: readonly number[] = [
  ...Array.from({ length: STEPS }, (_, ms) => ms),
  ...Array.from({ length: LAST_POWER - Math.log2(STEPS) }, (_, octave) => STEPS * 2 ** octave).flatMap(
    (start) => Array.from({ length: STEPS }, (_, step) => start + (step * start) / STEPS),
  ),
];

/** Percentiles of times, each within 3.2 %. */
export interface Percentiles {
  /** Number of requests with a time. */
  requests: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
}

/** The time in the middle of a bucket, in whole ms. Throws a RangeError for an unknown bucket. */
export function middleOf(bucket: number): number {
  const low = BUCKET_BOUNDS_MS[bucket];
  if (low === undefined) throw new RangeError(`There is no bucket ${bucket} of times.`);
  const next = BUCKET_BOUNDS_MS[bucket + 1] ?? low + low / STEPS;
  return Math.round(low + (next - 1 - low) / 2);
}
