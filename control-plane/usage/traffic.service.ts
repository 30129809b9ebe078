/**
 * Reads the traffic of upstreams and nodes: totals, a time series, and each upstream or node, with the extra
 * requests of upstreams.
 */
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
/** Maximum number of models with extra requests. */
const MODELS_MAX = 100;

/** The upstreams or nodes, and the range. */
export interface TrafficRequest {
  subject: 'UPSTREAM' | 'NODE';
  /** Null for all. */
  ids: readonly string[] | null;
  range: { from: Date; to: Date };
  bucket: BucketWidth;
}

/** Requests that were cut because another upstream answered first. */
export interface ExtraSums {
  requests: number;
  withoutCost: number;
  /** Micro-USD. */
  cost: bigint;
}

/** Counts, and times of successful requests. */
export interface TrafficSums {
  requests: number;
  failed: number;
  timings: Timings;
  extra: ExtraSums;
}

/** Traffic in a range. */
export interface TrafficView {
  totals: TrafficSums;
  /** Of all together (`subjectId` null) and of each one, by ascending time. */
  series: { at: Date; subjectId: string | null; figures: TrafficSums }[];
  /** By descending number of requests. */
  rows: { subjectId: string; name: string; figures: TrafficSums }[];
  /** By descending cost. */
  extraByModel: { modelName: string; extra: ExtraSums }[];
}

interface ExtraRow {
  extra: number;
  priced: number;
  cost: string;
}

interface CountRow extends ExtraRow {
  at: string | null;
  id: string | null;
  requests: number;
  failed: number;
}

const NONE: TrafficSums = {
  ...{ requests: 0, failed: 0, timings: { ttft: null, duration: null } },
  extra: { requests: 0, withoutCost: 0, cost: 0n },
};
/** Tables of the names. */
const NAMES = { UPSTREAM: sql`provider`, NODE: sql`data_plane_node` };

/** The traffic. Throws INVALID for a range that is empty or above 400 days, and for too many points. */
export async function trafficOf(em: EntityManager, request: TrafficRequest): Promise<TrafficView> {
  const { subject, range, bucket } = request;
  checkSpan(range, bucket);
  const where = conditionOf(request);
  const point = BUCKETS[bucket];
  const counts = await countsOf(em, { where, extra: extraOf(request) }, point);
  const timings = await percentilesOf(
    em,
    sql`(select hour as at, subject_id, measure, buckets, counts from traffic_timing where ${where})`,
    { point, key: sql`subject_id`, isKeyed: true },
  );
  const idOf = (at: Date | null, id: string | null): string => `${at?.getTime() ?? ''} ${id ?? ''}`;
  const times = new Map(timings.map((row) => [idOf(row.at, row.key), row.timings]));
  const figures = counts.map(({ at, id, requests, failed, ...extra }) => {
    const time = at === null ? null : toDate(at);
    const own = times.get(idOf(time, id)) ?? NONE.timings;
    return { at: time, subjectId: id, figures: { requests, failed, timings: own, extra: extraSums(extra) } };
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
    extraByModel: await extraByModel(em, extraOf(request)),
  };
}

function conditionOf({ subject, ids, range }: TrafficRequest): Statement {
  const { from, to } = hoursIn(range);
  const list = [sql`subject = ${subject} and hour >= ${from} and hour < ${to}`];
  if (ids) list.push(sql`subject_id = any(${[...ids]}::text[])`);
  return all(list);
}

/** SQL of the extra requests of a request's upstreams; without rows for nodes. */
function extraOf({ subject, ids, range }: TrafficRequest): Statement {
  const { from, to } = hoursIn(range);
  const list = [sql`${subject} = 'UPSTREAM' and hour >= ${from} and hour < ${to}`];
  if (ids) list.push(sql`provider_id = any(${[...ids]}::text[])`);
  return sql`(select hour as at, provider_id, model_name, requests, priced, cost from extra_request_hour
    where ${all(list)})`;
}

function countsOf(
  em: EntityManager,
  { where, extra }: { where: Statement; extra: Statement },
  point: Statement,
): Promise<CountRow[]> {
  return query(
    em,
    sql`
    select point::text as at, subject_id as id, coalesce(sum(requests), 0)::integer as requests,
      coalesce(sum(failed), 0)::integer as failed, coalesce(sum(extra), 0)::integer as extra,
      coalesce(sum(priced), 0)::integer as priced, coalesce(sum(cost), 0)::text as cost
    from (select ${point} as point, subject_id, requests, failed, 0 as extra, 0 as priced, 0 as cost
        from (select hour as at, * from traffic_hour where ${where}) u
      union all select ${point}, provider_id, 0, 0, requests, priced, cost from ${extra} u) counted
    group by grouping sets ((), (point), (subject_id), (point, subject_id)) order by point, subject_id`,
  );
}

async function extraByModel(em: EntityManager, extra: Statement): Promise<TrafficView['extraByModel']> {
  const rows = await query<ExtraRow & { model: string }>(
    em,
    sql`
    select model_name as model, sum(requests)::integer as extra, sum(priced)::integer as priced,
      sum(cost)::text as cost
    from ${extra} u group by 1 order by sum(cost) desc, 2 desc, 1 limit ${MODELS_MAX}`,
  );
  return rows.map(({ model, ...row }) => ({ modelName: model, extra: extraSums(row) }));
}

function extraSums({ extra, priced, cost }: ExtraRow): ExtraSums {
  return { requests: extra, withoutCost: extra - priced, cost: BigInt(cost) };
}

async function namesOf(
  em: EntityManager,
  subject: TrafficRequest['subject'],
): Promise<ReadonlyMap<string, string>> {
  const rows = await query<{ id: string; name: string }>(em, sql`select id, name from ${NAMES[subject]}`);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
