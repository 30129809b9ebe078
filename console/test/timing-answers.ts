/** Sample times of requests, and traffic of upstreams and nodes. */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Percentiles {
  requests: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
}

/** Percentiles around a median, which differ from point to point. */
function percentilesOf(requests: number, p50Ms: number): Percentiles {
  return { requests, p50Ms, p95Ms: Math.round(p50Ms * 2.6), p99Ms: Math.round(p50Ms * 4.1) };
}

function timingsOf(requests: number, at: number) {
  const slower = 1 + ((at * 37) % 29) / 40;
  return {
    ttft: percentilesOf(requests, Math.round(310 * slower)),
    duration: percentilesOf(requests, Math.round(2400 * slower)),
  };
}

/** Times of a summary with these points and groups. */
export function timesOf(points: readonly Date[], keys: readonly string[]) {
  return {
    totals: timingsOf(2_300, 0),
    series: points.map((at, index) => ({ at, timings: timingsOf(120, index) })),
    groups: keys.map((key, index) => ({ key, timings: timingsOf(900 - index * 90, index * 3) })),
  };
}

interface TrafficOf {
  subject: 'UPSTREAM' | 'NODE';
  ids?: string[] | null;
  range: { from: string; to: string };
  bucket: 'HOUR' | 'DAY';
}

const SUBJECTS = {
  UPSTREAM: [
    ['prv_north-eu', 'north-eu'],
    ['prv_demo', 'demo'],
  ],
  NODE: [
    ['nod_eu-1', 'eu-1'],
    ['nod_eu-2', 'eu-2'],
    ['nod_us-1', 'us-1'],
  ],
} as const;

/** Traffic in each bucket of the range. */
export function trafficOf({ subject, ids, range, bucket }: TrafficOf) {
  const step = bucket === 'HOUR' ? HOUR_MS : DAY_MS;
  const from = Date.parse(range.from);
  const count = Math.round((Date.parse(range.to) - from) / step);
  const shown = SUBJECTS[subject].filter(([id]) => !ids || ids.includes(id));
  const points = Array.from({ length: count }, (_, index) => new Date(from + index * step));
  const figuresOf = (requests: number, at: number) => ({
    requests,
    failed: Math.floor(requests / (30 + (at % 5))),
    timings: timingsOf(requests, at),
    extra: extraOf(subject === 'UPSTREAM' ? Math.floor(requests / 45) : 0),
  });
  return {
    totals: figuresOf(shown.length * count * 90, 0),
    series: points.flatMap((at, index) => [
      { at, subjectId: null, figures: figuresOf(shown.length * 90, index) },
      ...shown.map(([id], place) => ({
        at,
        subjectId: id,
        figures: figuresOf(120 - place * 30 + (index % 7), index),
      })),
    ]),
    rows: shown.map(([id, name], place) => ({
      subjectId: id,
      name,
      figures: figuresOf(count * (120 - place * 30), place),
    })),
    extraByModel:
      subject === 'UPSTREAM'
        ? [
            { modelName: 'coder', extra: extraOf(72) },
            { modelName: 'swift', extra: extraOf(24) },
          ]
        : [],
  };
}

/** Extra requests; one in eight is over a route without a known cost. */
function extraOf(requests: number) {
  const withoutCost = Math.floor(requests / 8);
  return { requests, withoutCost, cost: ((requests - withoutCost) * 0.0125).toFixed(4) };
}
