/** Reads the traffic of upstreams and nodes: totals, a time series, and each upstream or node. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { all, query, sql, toDate } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { percentilesOf } from './percentiles.ts';
import type { Timings } from './percentiles.ts';
import { BUCKETS } from './summary.sets.ts';
import type { BucketWidth } from './summary.sets.ts';
import { checkSpan } from './summary.service.ts';
import { hoursIn } from './timing.service.ts';

/** Maximum number of upstreams or nodes that are shown; those with the fewest requests are left out. */
const SUBJECTS_MAX = 100;

/** The upstreams or nodes, and the range. */
export interface TrafficRequest {
  subject: 'UPSTREAM' | 'NODE';
  /** Null for all. */
  ids: readonly string[] | null;
  range: { from: Date; to: Date };
  bucket: BucketWidth;
}

/** Counts, and times of successful requests. */
export interface TrafficSums {
  requests: number;
  failed: number;
  timings: Timings;
}

/** Traffic in a range. */
export interface TrafficView {
  totals: TrafficSums;
  /** Of all together (`subjectId` null) and of each one, by ascending time. */
  series: { at: Date; subjectId: string | null; figures: TrafficSums }[];
  /** By descending number of requests. */
  rows: { subjectId: string; name: string; figures: TrafficSums }[];
}

interface CountRow {
  at: string | null;
  id: string | null;
  requests: number;
  failed: number;
}

const NONE: TrafficSums = { requests: 0, failed: 0, timings: { ttft: null, duration: null } };
/** Tables of the names. */
const NAMES = { UPSTREAM: sql`provider`, NODE: sql`data_plane_node` };

/** The traffic. Throws INVALID for a range that is empty or above 400 days, and for too many points. */
export async function trafficOf(em: EntityManager, request: TrafficRequest): Promise<TrafficView> {
  const { subject, range, bucket } = request;
  checkSpan(range, bucket);
  const where = conditionOf(request);
  const point = BUCKETS[bucket];
  const counts = await countsOf(em, where, point);
  const timings = await percentilesOf(
    em,
    sql`(select hour as at, subject_id, measure, buckets, counts from traffic_timing where ${where})`,
    { point, key: sql`subject_id`, isKeyed: true },
  );
  const idOf = (at: Date | null, id: string | null): string => `${at?.getTime() ?? ''} ${id ?? ''}`;
  const times = new Map(timings.map((row) => [idOf(row.at, row.key), row.timings]));
  const figures = counts.map(({ at, id, requests, failed }) => {
    const time = at === null ? null : toDate(at);
    const own = times.get(idOf(time, id)) ?? NONE.timings;
    return { at: time, subjectId: id, figures: { requests, failed, timings: own } };
  });
  const names = await namesOf(em, subject);
  const rows = figures
    .flatMap(({ at, subjectId, figures: own }) =>
      at === null && subjectId !== null
        ? [{ subjectId, name: names.get(subjectId) ?? subjectId, figures: own }]
        : [],
    )
    .toSorted((left, right) => right.figures.requests - left.figures.requests)
    .slice(0, SUBJECTS_MAX);
  const shown = new Set<string | null>([null, ...rows.map(({ subjectId }) => subjectId)]);
  return {
    totals: figures.find(({ at, subjectId }) => at === null && subjectId === null)?.figures ?? NONE,
    series: figures.flatMap(({ at, ...one }) =>
      at !== null && shown.has(one.subjectId) ? [{ at, ...one }] : [],
    ),
    rows,
  };
}

function conditionOf({ subject, ids, range }: TrafficRequest): Statement {
  const { from, to } = hoursIn(range);
  const list = [sql`subject = ${subject} and hour >= ${from} and hour < ${to}`];
  if (ids) list.push(sql`subject_id = any(${[...ids]}::text[])`);
  return all(list);
}

function countsOf(em: EntityManager, where: Statement, point: Statement): Promise<CountRow[]> {
  return query(
    em,
    sql`
    select point::text as at, subject_id as id, coalesce(sum(requests), 0)::integer as requests,
      coalesce(sum(failed), 0)::integer as failed
    from (select ${point} as point, subject_id, requests, failed
      from (select hour as at, * from traffic_hour where ${where}) u) counted
    group by grouping sets ((), (point), (subject_id), (point, subject_id)) order by point, subject_id`,
  );
}

async function namesOf(
  em: EntityManager,
  subject: TrafficRequest['subject'],
): Promise<ReadonlyMap<string, string>> {
  const rows = await query<{ id: string; name: string }>(em, sql`select id, name from ${NAMES[subject]}`);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
