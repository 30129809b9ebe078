/**
 * The rules of uptime. A day of a model or family is the share of its requests that were answered. A request
 * counts as answered if its whole answer was delivered. It counts as failed if the upstream or the gateway
 * failed. All other requests do not count: refusals that the customer caused, and requests that the customer
 * or the operator ended. A day without enough requests is the share of successful probes, and a day without
 * either has no data.
 */
import type { UsageOutcome } from '@gateway/shared/records';
import type { FailureCode } from '@gateway/shared/failures';

/** Outcomes of requests that count as answered. */
export const ANSWERED_OUTCOMES: readonly UsageOutcome[] = ['DELIVERED'];
/** Outcomes of requests that count as failed. */
export const FAILED_OUTCOMES: readonly UsageOutcome[] = ['UPSTREAM_FAILED'];
/** Error codes of refusals that the gateway causes. They count as failed. */
export const FAILED_CODES: readonly FailureCode[] = ['unavailable'];

/** Minimum number of counted requests from which figures are shown. */
export const REQUESTS_MIN = 20;
/** Minimum number of customers from which figures are shown, so that no figure describes a single one. */
export const CUSTOMERS_MIN = 3;
/** Number of days that the status page shows, including today. */
export const UPTIME_DAYS = 90;

const DAY_MS = 86_400_000;
/** Fraction digits of a share, as a power of ten. */
const SHARE_UNITS = 10_000;

/** Sums of requests and probes. */
export interface UptimeCounts {
  served: number;
  failed: number;
  /** Set of 64 bits: each customer sets the bit of its hash. */
  customers: bigint;
  checksUp: number;
  checksDown: number;
}

/** Sums of one day. */
export interface UptimeDay extends UptimeCounts {
  /** Start of the day in UTC. */
  day: Date;
}

/** The number of customers that a set has at least. Two customers with the same hash count as one. */
export function customersIn(set: bigint): number {
  let rest = BigInt.asUintN(64, set);
  let count = 0;
  for (; rest > 0n; rest &= rest - 1n) count += 1;
  return count;
}

/** Whether figures of these requests may be shown to everybody. */
export function mayShow(requests: number, customers: number): boolean {
  return requests >= REQUESTS_MIN && customers >= CUSTOMERS_MIN;
}

/** The share of the time in which the subject of the sums worked, 0 to 1; null without data. */
export function uptimeOf(counts: UptimeCounts): number | null {
  const requests = counts.served + counts.failed;
  if (mayShow(requests, customersIn(counts.customers))) return counts.served / requests;
  const checks = counts.checksUp + counts.checksDown;
  return checks === 0 ? null : counts.checksUp / checks;
}

/**
 * The uptime of each of the last 90 days, oldest first and today last; null for days without data. Several
 * sums of one day are added.
 */
export function uptimeOfDays(sums: readonly UptimeDay[], now: Date): (number | null)[] {
  const first = firstDay(now).getTime();
  const days = Map.groupBy(sums, ({ day }) => Math.floor((day.getTime() - first) / DAY_MS));
  return Array.from({ length: UPTIME_DAYS }, (_, at) => {
    const ofDay = days.get(at);
    return ofDay ? uptimeOf(ofDay.reduce<UptimeCounts>(plus, NOTHING)) : null;
  });
}

/** The mean of the days with data, so that no day counts more than another one; null without data. */
export function meanUptime(days: readonly (number | null)[]): number | null {
  const known = days.filter((share) => share !== null);
  return known.length === 0 ? null : known.reduce((sum, share) => sum + share, 0) / known.length;
}

/** A share with four decimals, rounded down, so that only a share of exactly 1 is shown as 1. */
export function shareText(share: number): string {
  return (Math.floor(share * SHARE_UNITS) / SHARE_UNITS).toFixed(4);
}

/** Start of the first of the last 90 days, in UTC. */
export function firstDay(now: Date): Date {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  return new Date(today - (UPTIME_DAYS - 1) * DAY_MS);
}

const NOTHING: UptimeCounts = { served: 0, failed: 0, customers: 0n, checksUp: 0, checksDown: 0 };

function plus(left: UptimeCounts, right: UptimeCounts): UptimeCounts {
  return {
    served: left.served + right.served,
    failed: left.failed + right.failed,
    customers: left.customers | right.customers,
    checksUp: left.checksUp + right.checksUp,
    checksDown: left.checksDown + right.checksDown,
  };
}
