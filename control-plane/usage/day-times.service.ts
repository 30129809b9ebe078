/**
 * The times of each model by day, for everybody: a job computes them from the distributions by hour, so that
 * a public page reads one row per day.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { earlierOfBothClocks } from '../database/prune.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { customersIn, firstDay, mayShow, UPTIME_DAYS } from '../status/uptime.rules.ts';
import { percentilesOf } from './percentiles.ts';

/** Days for which the times are kept: those that are shown, and a margin for clocks. */
const KEEP_DAYS = UPTIME_DAYS + 2;
/** Days that the frequent run compares with the hours: nodes report requests of at most 48 hours ago. */
const RECENT_DAYS = 3;
/** How long the times are given to all callers before they are read again, in ms. */
const CACHE_MS = 60_000;

/** Median and 95th percentile of a time in ms; null without enough requests of enough customers. */
export interface DayTimes {
  /** Start of the day in UTC. */
  day: Date;
  p50FirstTokenMs: number | null;
  p95FirstTokenMs: number | null;
  p50LatencyMs: number | null;
  p95LatencyMs: number | null;
}

/** Computes the last days whose hours changed. */
export function sumUpDays(em: EntityManager): Promise<void> {
  return sumUp(em, RECENT_DAYS);
}

/** Computes all days whose hours changed, and deletes those that are not shown any more. */
export async function sumUpAllDays(em: EntityManager): Promise<void> {
  await sumUp(em, KEEP_DAYS);
  const old = sql`day < (${earlierOfBothClocks()} at time zone 'UTC')::date - ${KEEP_DAYS}::integer`;
  await query(em, sql`delete from model_day_times where ${old}`);
  await query(em, sql`delete from day_summed where ${old}`);
}

async function sumUp(em: EntityManager, days: number): Promise<void> {
  const recent = sql`hour >= date_trunc('day', now(), 'UTC') - make_interval(days => ${days})`;
  for (const { day } of await changedDays(em, recent)) await sumUpDay(em, day);
}

/** Days whose hours changed, newest first. A day waits until the customers of all its hours are known. */
function changedDays(em: EntityManager, hours: Statement): Promise<{ day: string }[]> {
  return query(
    em,
    sql`
    select log.day::text from (select (hour at time zone 'UTC')::date as day,
        sum(requests)::bigint as requests
      from hour_summed where ${hours} group by 1) log
    left join day_summed as done on done.day = log.day
    where done.requests is distinct from log.requests
      and not exists (select from usage_timing_all t where t.customers is null
        and t.hour >= log.day::timestamp at time zone 'UTC'
        and t.hour < (log.day + 1)::timestamp at time zone 'UTC')
    order by log.day desc`,
  );
}

/** Computes one day, if it is still changed. The lock of the hours keeps hours from changing meanwhile. */
async function sumUpDay(em: EntityManager, day: string): Promise<void> {
  const start = sql`(${day}::timestamp at time zone 'UTC')`;
  const hours = sql`hour >= ${start} and hour < ${start} + interval '1 day'`;
  await inTransaction(em, async (inner) => {
    await query(inner, sql`select pg_advisory_xact_lock(hashtextextended('hour sums', 0))`);
    if ((await changedDays(inner, hours)).length === 0) return;
    await query(inner, sql`delete from model_day_times where day = ${day}::date`);
    await query(inner, insertTimes(day, { rows: await timesIn(inner, hours), hours }));
    await query(
      inner,
      sql`insert into day_summed (day, requests)
      select ${day}::date, coalesce(sum(requests), 0) from hour_summed where ${hours}
      on conflict (day) do update set requests = excluded.requests`,
    );
  });
}

interface TimesRow {
  model_name: string;
  measure: 'DURATION' | 'TTFT';
  requests: number;
  p50_ms: number;
  p95_ms: number;
}

/** Percentiles by model and measure. */
async function timesIn(em: EntityManager, hours: Statement): Promise<TimesRow[]> {
  const found = await percentilesOf(
    em,
    sql`(select model_name, measure, buckets, counts from usage_timing_all where ${hours})`,
    { point: undefined, key: sql`model_name` },
  );
  return found.flatMap(({ key, timings: { ttft, duration } }) =>
    [['TTFT', ttft] as const, ['DURATION', duration] as const].flatMap(([measure, times]) =>
      key === null || times === null
        ? []
        : [{ model_name: key, measure, requests: times.requests, p50_ms: times.p50Ms, p95_ms: times.p95Ms }],
    ),
  );
}

function insertTimes(day: string, { rows, hours }: { rows: TimesRow[]; hours: Statement }): Statement {
  return sql`
    insert into model_day_times (day, model_name, measure, requests, customers, p50_ms, p95_ms)
    select ${day}::date, t.model_name, t.measure, t.requests, c.customers, t.p50_ms, t.p95_ms
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as t
      (model_name text, measure text, requests integer, p50_ms integer, p95_ms integer)
    join (select model_name, measure, bit_or(customers) as customers from usage_timing_all
      where ${hours} group by 1, 2) c using (model_name, measure)`;
}

interface StoredTimes extends TimesRow {
  day: string;
  customers: string;
}

/**
 * The times of each model in the last 90 days, by model name and ascending day. A day without enough requests
 * of enough customers has no figures, so that none describes a single customer.
 */
export async function readDayTimes(em: EntityManager, now: Date): Promise<Map<string, DayTimes[]>> {
  const rows = await query<StoredTimes>(
    em,
    sql`select day::text, model_name, measure, requests, customers::text, p50_ms, p95_ms
    from model_day_times where day >= (${firstDay(now)}::timestamptz at time zone 'UTC')::date
    order by model_name, day`,
  );
  const shown = rows.filter(({ requests, customers }) => mayShow(requests, customersIn(BigInt(customers))));
  const models = Map.groupBy(shown, (row) => row.model_name);
  return new Map([...models].map(([name, ofModel]) => [name, daysOf(ofModel)]));
}

function daysOf(rows: readonly StoredTimes[]): DayTimes[] {
  return [...Map.groupBy(rows, ({ day }) => day)].map(([day, ofDay]) => {
    const first = ofDay.find(({ measure }) => measure === 'TTFT');
    const whole = ofDay.find(({ measure }) => measure === 'DURATION');
    return {
      day: new Date(`${day}T00:00:00Z`),
      p50FirstTokenMs: first?.p50_ms ?? null,
      p95FirstTokenMs: first?.p95_ms ?? null,
      p50LatencyMs: whole?.p50_ms ?? null,
      p95LatencyMs: whole?.p95_ms ?? null,
    };
  });
}

interface Cached {
  untilMs: number;
  reading: Promise<Map<string, DayTimes[]>>;
}

/** One cache per database connection. */
const caches = new WeakMap<object, Cached>();

/** The times of one model, at most `CACHE_MS` old; empty for a model without figures. */
export async function dayTimesOf(em: EntityManager, modelName: string): Promise<DayTimes[]> {
  const database = em.getDriver();
  const now = Date.now();
  const known = caches.get(database);
  if (known && now < known.untilMs) return (await known.reading).get(modelName) ?? [];
  const fresh: Cached = { untilMs: now + CACHE_MS, reading: readDayTimes(em.fork(), new Date(now)) };
  caches.set(database, fresh);
  // A failed read is repeated by the next caller.
  fresh.reading.catch(() => {
    fresh.untilMs = 0;
  });
  return (await fresh.reading).get(modelName) ?? [];
}
