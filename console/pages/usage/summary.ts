/** Turns usage summaries into bars of days or hours, and a legend. */
import { formatDollars, parseDollars } from '@gateway/shared/money';
import type { Bar } from '../../components/chart-series.ts';
import { decimalsOf, moneyText } from '../../components/money.tsx';
import type { UsageSums } from './documents.ts';
import type { SUM_MEASURES } from './search.ts';
import { DAY_MS, HOUR_MS, iso, type Span } from './span.ts';

/** Number of groups with a colour of their own; see SERIES_TONES. */
const NAMED_SERIES_MAX = 7;

/** Sums of requests, as the charts show them. */
export interface Sums {
  cost: string;
  requests: number;
  failed: number;
  /** Input and output together. */
  tokens: number;
}

type Totals = Pick<UsageSums, 'cost' | 'requests' | 'failed' | 'inputTokens' | 'outputTokens'>;

/** The sums of these totals. */
export function sumsOf(totals: readonly Totals[]): Sums {
  const sum = (value: (one: Totals) => number): number => totals.reduce((all, one) => all + value(one), 0);
  return {
    cost: formatDollars(totals.reduce((all, { cost }) => all + (parseDollars(cost) ?? 0n), 0n)),
    requests: sum(({ requests }) => requests),
    failed: sum(({ failed }) => failed),
    tokens: sum(({ inputTokens, outputTokens }) => Number(inputTokens) + Number(outputTokens)),
  };
}

export interface Series {
  /** Undefined for all remaining groups together. */
  key: string | undefined;
  keys: readonly string[];
  label: string;
  sums: Sums;
  /** The remaining groups, the largest first; empty for a single group. */
  members: readonly Series[];
}

interface Group {
  key: string;
  label: string;
  totals: Totals;
}

/** The largest groups, and the remaining ones as one series, whose label the caller sets. */
export function seriesOf(groups: readonly Group[], measure: Measure): Series[] {
  const single = ({ key, label, totals }: Group): Series => ({
    key,
    keys: [key],
    label,
    sums: sumsOf([totals]),
    members: [],
  });
  const sorted = [...groups].sort(
    (a, b) => amountOf(sumsOf([b.totals]), measure) - amountOf(sumsOf([a.totals]), measure),
  );
  const rest = sorted.slice(NAMED_SERIES_MAX);
  const named = sorted.slice(0, NAMED_SERIES_MAX).map(single);
  if (rest.length === 0) return named;
  const sums = sumsOf(rest.map(({ totals }) => totals));
  const keys = rest.map(({ key }) => key);
  return [...named, { key: undefined, keys, label: '', sums, members: rest.map(single) }];
}

export type Measure = (typeof SUM_MEASURES)[number];

/** Units of a failure rate: hundredths of a percent, so that the amounts of bars are whole numbers. */
const RATE_UNITS = 10_000;

/** The amount that a bar shows: micro-USD, hundredths of a percent, or a number. For heights and order. */
export function amountOf(sums: Sums, measure: Measure): number {
  if (measure === 'cost') return Number(parseDollars(sums.cost) ?? 0n);
  if (measure !== 'rate') return sums[measure];
  return sums.requests === 0 ? 0 : Math.round((RATE_UNITS * sums.failed) / sums.requests);
}

/** An amount of the measure `rate` in percent. */
export function percentOf(amount: number): number {
  return amount / (RATE_UNITS / 100);
}

/** Formats micro-USD with equal numbers of decimals; without decimals if all are whole dollars. */
export function moneyWords(amounts: readonly number[]): string[] {
  const dollars = amounts.map((amount) => formatDollars(BigInt(amount)));
  const decimals = dollars.every((amount) => amount.endsWith('.00')) ? 0 : decimalsOf(dollars);
  return dollars.map((amount) => {
    const [whole = '', fraction = ''] = moneyText(amount).split('.');
    return decimals === 0 ? whole : `${whole}.${fraction.padEnd(decimals, '0')}`;
  });
}

/** One day or hour. */
export interface Bucket {
  /** "2026-11-20" or "2026-11-20T14" */
  id: string;
  sums: Sums;
  /** The sums of each series. */
  parts: readonly Sums[];
  /** The amount in the bucket at the same place of the previous range. */
  before: number;
}

interface Point {
  at: string;
  key: string | null;
  totals: Totals;
}

interface Sources {
  span: Span;
  points: readonly Point[];
  before: readonly Point[];
  series: readonly Pick<Series, 'keys'>[];
  measure: Measure;
}

/** Every bucket of the span, including those without requests. */
export function bucketsOf({ span, points, before, series, measure }: Sources): Bucket[] {
  const step = span.bucket === 'HOUR' ? HOUR_MS : DAY_MS;
  const start = Date.parse(span.from);
  const count = Math.round((Date.parse(span.to) - start) / step);
  const [now, then] = [byTime(points), byTime(before)];
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * step;
    const own = now.get(at) ?? [];
    const earlier = (then.get(at - count * step) ?? []).map(({ totals }) => totals);
    const part = (keys: readonly string[]): Sums =>
      sumsOf(own.filter(({ key }) => key !== null && keys.includes(key)).map(({ totals }) => totals));
    return {
      id: iso(at).slice(0, span.bucket === 'HOUR' ? 'YYYY-MM-DDTHH'.length : 'YYYY-MM-DD'.length),
      sums: sumsOf(own.map(({ totals }) => totals)),
      parts: series.map(({ keys }) => part(keys)),
      before: amountOf(sumsOf(earlier), measure),
    };
  });
}

function byTime(points: readonly Point[]): ReadonlyMap<number, Point[]> {
  return Map.groupBy(points, ({ at }) => Date.parse(at));
}

/** Rates cannot be stacked: a bar is the rate of all series together, in the colour of no single series. */
function wholeBar(sums: Sums): number[] {
  return [...Array.from({ length: NAMED_SERIES_MAX }, () => 0), amountOf(sums, 'rate')];
}

interface BarWords {
  label: (id: string, index: number) => string;
  title: (bucket: Bucket) => string;
  /** The lines of the tooltip after the title. */
  lines?: (bucket: Bucket) => Bar['lines'];
}

/** The bars; the current one is marked as open. */
export function barsOf(buckets: readonly Bucket[], measure: Measure, words: BarWords): Bar[] {
  const now = iso(Date.now());
  return buckets.map((bucket, index) => ({
    id: bucket.id,
    label: words.label(bucket.id, index),
    title: words.title(bucket),
    lines: words.lines?.(bucket) ?? [],
    values: measure === 'rate' ? wholeBar(bucket.sums) : bucket.parts.map((sums) => amountOf(sums, measure)),
    before: bucket.before,
    open: now.startsWith(bucket.id),
  }));
}
