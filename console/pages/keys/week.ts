/** The last seven UTC days, including today. */

const DAY_MS = 86_400_000;
const DAYS = 7;

/** From the start of the first day to the end of today, in UTC; constant during a day. */
export function lastWeek(now: number) {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  return {
    from: new Date(today - (DAYS - 1) * DAY_MS).toISOString(),
    to: new Date(today + DAY_MS).toISOString(),
  };
}

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
