/** Turns percentiles of times into the bars of a chart. */
import type { Bar } from '../../components/chart-series.ts';
import type { TIME_MEASURES } from './search.ts';

/** Percentiles of a time in ms. */
export interface Percentiles {
  requests: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
}

export type TimeMeasure = (typeof TIME_MEASURES)[number];

/** Percentiles of each time; null if no request has the time. */
export type Timings = Record<TimeMeasure, Percentiles | null>;

export const PERCENTILES = ['p50', 'p95', 'p99'] as const;
export type Percentile = (typeof PERCENTILES)[number];

/** A percentile in ms. */
export function msOf(percentiles: Percentiles, name: Percentile): number {
  return percentiles[`${name}Ms`];
}

/** The times of one bar. */
export interface TimeBucket {
  /** "2026-11-20" or "2026-11-20T14" */
  id: string;
  percentiles: Percentiles | null;
}

interface TimeWords {
  label: (id: string, index: number) => string;
  title: (bucket: TimeBucket) => string;
  durationText: (milliseconds: number) => string;
}

/** The bars: parts that end at the p50, the p95 and the p99. Bars without requests are empty. */
export function timeBarsOf(buckets: readonly TimeBucket[], words: TimeWords): Bar[] {
  const now = new Date().toISOString();
  return buckets.map((bucket, index) => {
    const { id, percentiles } = bucket;
    const [p50 = 0, p95 = 0, p99 = 0] = percentiles ? PERCENTILES.map((name) => msOf(percentiles, name)) : [];
    return {
      id,
      label: words.label(id, index),
      title: words.title(bucket),
      lines: percentiles
        ? PERCENTILES.map((name) => ({ name, value: words.durationText(msOf(percentiles, name)) }))
        : [],
      values: [p50, p95 - p50, p99 - p95],
      before: 0,
      open: now.startsWith(id),
    };
  });
}
