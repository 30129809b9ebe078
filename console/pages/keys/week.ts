/** The last seven UTC days, including today. */
import { DAY_MS, DAYS, lastWeek } from './first.ts';

/** Number of requests on each day, oldest first. */
export function requestsByDay(
  points: readonly { at: string; totals: { requests: number } }[],
  now: number,
): number[] {
  const first = Date.parse(lastWeek(now).from);
  const byDay = Map.groupBy(points, ({ at }) => Math.floor((Date.parse(at) - first) / DAY_MS));
  return Array.from({ length: DAYS }, (_, index) => requestsOf(byDay.get(index) ?? []));
}

/** The total number of requests. */
export function requestsOf(points: readonly { totals: { requests: number } }[]): number {
  return points.reduce((sum, { totals }) => sum + totals.requests, 0);
}
