/** Sample usage of a key by day. */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_DAYS = 7;

/** The days before today on which a key was used: none before it was, fewer the longer that is ago. */
function daysOf(name: string, used: number | undefined): number[] {
  const last = used === undefined ? WEEK_DAYS : Math.floor(used / (24 * HOUR_MS));
  const days = Array.from({ length: WEEK_DAYS }, (_, day) => day);
  return days.filter((day) => day >= last && (day + name.length) % 5 !== 0);
}

const TOKENS = { inputTokens: '90000', outputTokens: '4000' };

/** The usage of a key on these days. */
export function usageOf(name: string, used: number | undefined) {
  const series = daysOf(name, used).map((day) => {
    const requests = 10 + ((day * 7 + name.length * 3) % 23);
    const at = new Date(Math.floor(Date.now() / DAY_MS - day) * DAY_MS).toISOString();
    return { at, key: null, totals: { requests, failed: day % 2, cost: String(requests * 0.25), ...TOKENS } };
  });
  const sum = (value: 'requests' | 'failed') => series.reduce((all, { totals }) => all + totals[value], 0);
  const [requests, failed] = [sum('requests'), sum('failed')];
  return { series, totals: { requests, failed, cost: String(requests * 0.25) } };
}
