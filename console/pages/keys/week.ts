/** The last seven UTC days, including today. */
import { DAY_MS, DAYS, lastWeek } from './first.ts';

/** Number of requests on each day, oldest first. */
export function requestsByDay(
  points: readonly { at: string; totals: { requests: number } }[],
  now: number,
): number[] {
  const first = Date.parse(lastWeek(now).from);
  return Array.from({ length: DAYS }, (_, index) => {
    const start = first + index * DAY_MS;
    return requestsOf(points.filter(({ at }) => Date.parse(at) >= start && Date.parse(at) < start + DAY_MS));
  });
}

/** The total number of requests. */
export function requestsOf(points: readonly { totals: { requests: number } }[]): number {
  return points.reduce((sum, { totals }) => sum + totals.requests, 0);
}
