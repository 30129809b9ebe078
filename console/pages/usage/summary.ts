/** Turns usage summaries into days, chart bars and a legend. */
import { formatDollars, parseDollars } from '@gateway/shared/money';
import type { Bar } from '../../components/chart-series.ts';
import { decimalsOf, moneyText } from '../../components/money.tsx';
import type { SummaryPoint, UsageSums } from './documents.ts';
import type { UsageSearch } from './search.ts';

const DAY_MS = 86_400_000;
const NAMED_SERIES_MAX = 4;

export interface Span {
  from: string;
  to: string;
}

/** The last `days` days, including today, in UTC. */
export function spanOf(days: number, now: number): Span {
  const to = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
  return { from: iso(to - days * DAY_MS), to: iso(to) };
}

/** The previous span of the same length. */
export function spanBefore({ from, to }: Span): Span {
  const start = Date.parse(from);
  return { from: iso(start - (Date.parse(to) - start)), to: from };
}

/** The span of one UTC day, "2026-11-20". */
export function dayOf(day: string): Span {
  const start = Date.parse(`${day}T00:00:00Z`);
  return { from: iso(start), to: iso(start + DAY_MS) };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

export interface Series {
  /** Undefined for all remaining groups together. */
  key: string | undefined;
  keys: readonly string[];
  label: string;
  cost: string;
  requests: number;
}

interface Group {
  key: string;
  label: string;
  totals: UsageSums;
}

/** The four largest groups, and the remaining ones as one series, whose label the caller sets. */
export function seriesOf(groups: readonly Group[], measure: Measure): Series[] {
  const sorted = [...groups].sort((a, b) => amountOf(b.totals, measure) - amountOf(a.totals, measure));
  const single = (group: Group): Series => ({ ...group, keys: [group.key], ...group.totals });
  const rest = sorted.slice(NAMED_SERIES_MAX);
  const named = sorted.slice(0, NAMED_SERIES_MAX).map(single);
  if (rest.length === 0) return named;
  const cost = rest.reduce((sum, { totals }) => sum + (parseDollars(totals.cost) ?? 0n), 0n);
  const requests = rest.reduce((sum, { totals }) => sum + totals.requests, 0);
  const keys = rest.map(({ key }) => key);
  return [...named, { key: undefined, keys, label: '', cost: formatDollars(cost), requests }];
}

export type Measure = NonNullable<UsageSearch['measure']>;

/** The amount that a bar shows, in micro-USD or requests. Only for heights and order. */
export function amountOf(totals: Pick<UsageSums, 'cost' | 'requests'>, measure: Measure): number {
  return measure === 'requests' ? totals.requests : Number(parseDollars(totals.cost) ?? 0n);
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

export interface Day {
  /** "2026-11-20" */
  id: string;
  cost: string;
  requests: number;
  failed: number;
  values: readonly number[];
  before: number;
}

interface Sources {
  span: Span;
  points: readonly SummaryPoint[];
  before: readonly SummaryPoint[];
  series: readonly Series[];
  measure: Measure;
}

/** Every day of the span, including days without requests. */
export function daysOf({ span, points, before, series, measure }: Sources): Day[] {
  const start = Date.parse(span.from);
  const count = Math.round((Date.parse(span.to) - start) / DAY_MS);
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * DAY_MS;
    const own = points.filter((point) => Date.parse(point.at) === at);
    const earlier = before.filter((point) => Date.parse(point.at) === at - count * DAY_MS);
    const total = (list: readonly SummaryPoint[]) =>
      list.reduce((sum, { totals }) => sum + amountOf(totals, measure), 0);
    return {
      id: iso(at).slice(0, 10),
      cost: formatDollars(own.reduce((sum, { totals }) => sum + (parseDollars(totals.cost) ?? 0n), 0n)),
      requests: own.reduce((sum, { totals }) => sum + totals.requests, 0),
      failed: own.reduce((sum, { totals }) => sum + totals.failed, 0),
      values: series.map(({ keys }) => total(own.filter(({ key }) => key !== null && keys.includes(key)))),
      before: total(earlier),
    };
  });
}

/** The bars of the days; today's bar is marked as open. */
export function barsOf(
  days: readonly Day[],
  words: { label: (id: string) => string; title: (day: Day) => string },
) {
  const today = iso(Date.now()).slice(0, 10);
  return days.map((day): Bar => ({
    id: day.id,
    label: words.label(day.id),
    title: words.title(day),
    values: day.values,
    before: day.before,
    open: day.id === today,
  }));
}
