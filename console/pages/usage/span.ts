/** Ranges of time that charts cover, and those of their bars. In UTC. */
import type { SpanSearch } from './search.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const DAYS_DEFAULT = 14;
/** Bars of more days would be too narrow. */
const DAYS_MAX = 92;
/** A span of at most this many days is drawn by hours. */
const HOURLY_DAYS_MAX = 2;

export interface Range {
  from: string;
  to: string;
}

/** A range, and the width of its bars. */
export interface Span extends Range {
  bucket: 'DAY' | 'HOUR';
}

/** The span of the charts: the chosen days, or the last 24 hours or days, including the current one. UTC. */
export function spanOf({ days, from, to }: SpanSearch, now: number): Span {
  if (from !== undefined && to !== undefined && from <= to) return spanOfDates(from, to);
  if (days === '1') {
    const end = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
    return { from: iso(end - DAY_MS), to: iso(end), bucket: 'HOUR' };
  }
  return spanOfDays(Number(days ?? DAYS_DEFAULT), now);
}

/** The last `days` days, including today. */
export function spanOfDays(days: number, now: number): Span {
  const to = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
  return { from: iso(to - days * DAY_MS), to: iso(to), bucket: 'DAY' };
}

/** Both days are included. Of a longer span, the last DAYS_MAX days. */
function spanOfDates(from: string, to: string): Span {
  const end = Date.parse(to) + DAY_MS;
  const start = Math.max(Date.parse(from), end - DAYS_MAX * DAY_MS);
  const bucket = end - start <= HOURLY_DAYS_MAX * DAY_MS ? 'HOUR' : 'DAY';
  return { from: iso(start), to: iso(end), bucket };
}

/** Whether the span has the bar, "2026-11-20" or "2026-11-20T14". */
export function hasBar({ from, to, bucket }: Span, id: string): boolean {
  const start = rangeOfBar(id).from;
  return id.includes('T') === (bucket === 'HOUR') && start >= from && start < to;
}

/** Number of days in the range, rounded. */
export function daysIn({ from, to }: Range): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** The previous range of the same length. */
export function rangeBefore({ from, to }: Range): Range {
  const start = Date.parse(from);
  return { from: iso(start - (Date.parse(to) - start)), to: from };
}

/** The range of a bar: a UTC day, "2026-11-20", or an hour, "2026-11-20T14". */
export function rangeOfBar(id: string): Range {
  const [day = '', hour = '00'] = id.split('T');
  const start = Date.parse(`${day}T${hour}:00:00Z`);
  return { from: iso(start), to: iso(start + (id.includes('T') ? HOUR_MS : DAY_MS)) };
}

/** A time in milliseconds since 1970, as RFC 3339. */
export function iso(time: number): string {
  return new Date(time).toISOString();
}
