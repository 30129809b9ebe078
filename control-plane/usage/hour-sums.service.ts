/**
 * The job that computes the times of requests, the traffic of upstreams and nodes, and extra requests, by
 * hour. It computes whole hours from the rows of the usage log, outside of the settlement, so that a repeated
 * or interrupted run changes nothing. An hour is computed again when the log has another number of rows for
 * it, or when a control plane of an earlier release computed it without its customers.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { LOST_RACE } from '@gateway/shared/attempts';
import { earlierOfBothClocks } from '../database/prune.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { isDueEachMinute } from '../status/large-hours.ts';
import { FAILED_CODES, FAILED_OUTCOMES, UPTIME_DAYS } from '../status/uptime.rules.ts';
import { BUCKET_BOUNDS_MS } from './timing.buckets.ts';

/** Days for which the sums are kept: the longest range of a summary. */
const KEEP_DAYS = 400;
/** Hours that the frequent run compares with the log: nodes report requests of at most 48 hours ago. */
const RECENT_HOURS = 50;
/** Maximum number of hours that one run computes; the next run continues with earlier hours. */
const HOURS_PER_RUN = 1000;
const DAY_HOURS = 24;
/** Days whose hours need their customers: those that day-times.service.ts computes, and a part of a day. */
const CUSTOMERS_DAYS = UPTIME_DAYS + 3;
const TABLES = [
  'usage_timing',
  'usage_timing_all',
  'traffic_hour',
  'traffic_timing',
  'extra_request_hour',
] as const;

/** Conditions on hours and their numbers of rows. */
interface HoursToCompute {
  hours: Statement;
  /** Compares `log.requests` with `done.requests`. */
  isDue: Statement;
}

/** Computes the hours of the last two days whose rows changed; large hours only if they grew much. */
export function sumUpHours(em: EntityManager): Promise<void> {
  return sumUp(em, RECENT_HOURS, isDueEachMinute());
}

/**
 * Computes all changed hours, and missing ones, as after an update from a release without these sums. Deletes
 * the sums of hours beyond the longest range of a summary.
 */
export async function sumUpAllHours(em: EntityManager): Promise<void> {
  await sumUp(em, KEEP_DAYS * DAY_HOURS, sql`true`);
  const old = sql`hour < ${earlierOfBothClocks()} - make_interval(days => ${KEEP_DAYS})`;
  for (const table of [...TABLES, 'hour_summed'])
    await query(em, { text: `delete from ${table} where ${old.text}`, values: old.values });
}

async function sumUp(em: EntityManager, hours: number, isDue: Statement): Promise<void> {
  const recent = sql`hour > now() - make_interval(hours => ${hours})`;
  for (const { hour } of await changedHours(em, { hours: recent, isDue })) await sumUpHour(em, hour, isDue);
}

/** Hours to compute, newest first. Dropped months are left out. */
function changedHours(em: EntityManager, { hours, isDue }: HoursToCompute): Promise<{ hour: string }[]> {
  return query(
    em,
    sql`
    select log.hour::text from (select hour, sum(requests)::bigint as requests from usage_hour_all
      where ${hours} group by hour) log
    left join hour_summed as done on done.hour = log.hour
    where ((done.requests is distinct from log.requests and ${isDue})
        or exists (select from usage_timing_all t where t.hour = log.hour and t.customers is null
          and t.hour > now() - make_interval(days => ${CUSTOMERS_DAYS})))
      and not exists (select from usage_partition p
        where p.dropped_at is not null and log.hour >= p.lower_at and log.hour < p.upper_at)
    order by log.hour desc limit ${HOURS_PER_RUN}`,
  );
}

/**
 * Computes one hour, unless another control plane has just computed it. The lock prevents that an older count
 * replaces a newer one.
 */
async function sumUpHour(em: EntityManager, hour: string, isDue: Statement): Promise<void> {
  await inTransaction(em, async (inner) => {
    await query(inner, sql`select pg_advisory_xact_lock(hashtextextended('hour sums', 0))`);
    const hours = sql`hour = ${hour}::timestamptz`;
    if ((await changedHours(inner, { hours, isDue })).length === 0) return;
    for (const table of TABLES)
      await query(inner, { text: `delete from ${table} where hour = $1::timestamptz`, values: [hour] });
    await query(inner, insertSums(hour));
  });
}

function insertSums(hour: string): Statement {
  return sql`
    with log as materialized (${rowsOf(hour)}),
    noted as (
      insert into hour_summed (hour, requests) select ${hour}::timestamptz, count(*) from log
      on conflict (hour) do update set requests = excluded.requests),
    times as materialized (
      select wallet_id, key_id, model_name, pool_id, billing_group, source, measure, bucket,
        count(*)::integer as count
      from log cross join lateral (values ('DURATION', duration), ('TTFT', ttft)) as m (measure, bucket)
      where status = 'SUCCEEDED' and bucket is not null group by 1, 2, 3, 4, 5, 6, 7, 8),
    owned as (
      insert into usage_timing (hour, wallet_id, key_id, model_name, pool_id, billing_group, source, measure,
        buckets, counts)
      select ${hour}::timestamptz, wallet_id, key_id, model_name, pool_id, billing_group, source, measure,
        array_agg(bucket order by bucket), array_agg(count order by bucket)
      from times group by 2, 3, 4, 5, 6, 7, 8),
    everybody as (
      insert into usage_timing_all (hour, model_name, pool_id, billing_group, source, measure,
        buckets, counts, customers)
      select ${hour}::timestamptz, model_name, pool_id, billing_group, source, measure,
        array_agg(bucket order by bucket), array_agg(count order by bucket), bit_or(customers)
      from (select model_name, pool_id, billing_group, source, measure, bucket, sum(count)::integer as count,
          bit_or(1::bigint << (hashtextextended(wallet_id, 0) & 63)::integer) as customers
        from times group by 1, 2, 3, 4, 5, 6) added group by 2, 3, 4, 5, 6),
    extra as (
      insert into extra_request_hour (hour, provider_id, model_name, requests, priced, cost)
      select ${hour}::timestamptz, provider_id, model_name, count(*)::integer, count(cost)::integer,
        coalesce(sum(cost), 0)::bigint
      from (${extraOf()}) a group by 2, 3),
    tries as materialized (${triesOf()}),
    counted as (
      insert into traffic_hour (subject, hour, subject_id, requests, failed)
      select subject, ${hour}::timestamptz, subject_id, count(*)::integer,
        (count(*) filter (where failed))::integer
      from tries group by 1, 3)
    insert into traffic_timing (subject, hour, subject_id, measure, buckets, counts)
    select subject, ${hour}::timestamptz, subject_id, measure,
      array_agg(bucket order by bucket), array_agg(count order by bucket)
    from (select subject, subject_id, measure, bucket, count(*)::integer as count
      from tries cross join lateral (values ('DURATION', duration), ('TTFT', ttft)) as m (measure, bucket)
      where bucket is not null group by 1, 2, 3, 4) added group by 1, 3, 4`;
}

/** The rows of an hour with the buckets of their times. */
function rowsOf(hour: string): Statement {
  return sql`select wallet_id, key_id, model_name, coalesce(pool_id, '') as pool_id, billing_group, source,
      status, outcome, error_code, node_id, route_id, attempts,
      ${bucketOf(sql`latency_ms`)} as duration, ${bucketOf(sql`ttft_ms`)} as ttft
    from usage_entry
    where at >= ${hour}::timestamptz and at < ${hour}::timestamptz + interval '1 hour'`;
}

/** SQL of the number of the bucket of a time in ms; null for no time. */
export function bucketOf(ms: Statement): Statement {
  return sql`(width_bucket(${ms}, ${[...BUCKET_BOUNDS_MS]}::integer[]) - 1)::smallint`;
}

/**
 * Requests of nodes, and attempts of upstreams, with times of those that succeeded. The usage row itself
 * describes an only attempt. Later attempts have no time to the first token, because it is measured from
 * the start of the request. Attempts of deleted routes are left out.
 */
function triesOf(): Statement {
  const failed = sql`(outcome = any(${[...FAILED_OUTCOMES]}::text[])
    or coalesce(error_code = any(${[...FAILED_CODES]}::text[]), false))`;
  const succeeded = (bucket: Statement) => sql`case when status = 'SUCCEEDED' then ${bucket} end`;
  const times = sql`${succeeded(sql`duration`)} as duration, ${succeeded(sql`ttft`)} as ttft`;
  return sql`
    select 'NODE' as subject, node_id as subject_id, ${failed} as failed, ${times} from log
    union all
    select 'UPSTREAM', r.provider_id, outcome = 'UPSTREAM_FAILED', ${times}
    from log join route r on r.id = log.route_id where attempts is null
    union all
    select 'UPSTREAM', r.provider_id, a.outcome in ('BROKE_OFF', 'FAILED'),
      case when a.outcome = 'ANSWERED' then ${bucketOf(sql`a.ms`)} end, null
    from log cross join lateral
      jsonb_to_recordset(attempts) as a ("routeId" text, outcome text, ms integer)
    join route r on r.id = a."routeId" where attempts is not null and a.outcome <> 'SKIPPED'`;
}

/**
 * Attempts that were cut because another upstream answered first, with their cost in micro-USD. Those of
 * deleted routes are left out.
 */
function extraOf(): Statement {
  return sql`select r.provider_id, log.model_name, a.cost
    from log cross join lateral
      jsonb_to_recordset(attempts) as a ("routeId" text, "errorCode" text, cost bigint)
    join route r on r.id = a."routeId" where attempts is not null and a."errorCode" = ${LOST_RACE}`;
}
