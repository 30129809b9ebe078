/**
 * The job that sums up the usage log by hour, model and family for the status page. It computes whole hours
 * from the rows of the log, so that a repeated or interrupted run changes nothing. An hour is computed again
 * when the log has another number of rows for it.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { CHAT_FAMILIES } from '@gateway/shared/catalog';
import { earlierOfBothClocks } from '../database/prune.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { isDueEachMinute } from './large-hours.ts';
import { ANSWERED_OUTCOMES, FAILED_CODES, FAILED_OUTCOMES, UPTIME_DAYS } from './uptime.rules.ts';

/** Days for which the sums are kept: those of the status page, and a margin for clocks. */
const KEEP_DAYS = UPTIME_DAYS + 2;
/** Hours that the frequent run compares with the log. Later reports of nodes wait for the hourly run. */
const RECENT_HOURS = 48;
const DAY_HOURS = 24;

/** Sums up the hours of the last two days whose rows changed; large hours only if they grew much. */
export function rollUpRecent(em: EntityManager): Promise<void> {
  return rollUp(em, RECENT_HOURS, isDueEachMinute());
}

/** Sums up all hours of the status page whose rows changed, and deletes older sums. */
export async function rollUpAll(em: EntityManager): Promise<void> {
  await rollUp(em, KEEP_DAYS * DAY_HOURS, sql`true`);
  const old = sql`hour < ${earlierOfBothClocks()} - make_interval(days => ${KEEP_DAYS})`;
  await query(em, sql`delete from uptime_hour where ${old}`);
  await query(em, sql`delete from uptime_hour_read where ${old}`);
}

/** `isDue` compares the numbers of rows of an hour, as `isDueEachMinute` does. */
async function rollUp(em: EntityManager, hours: number, isDue: Statement): Promise<void> {
  const recent = sql`hour > now() - make_interval(hours => ${hours})`;
  for (const { hour } of await changedHours(em, recent, isDue)) await sumUpHour(em, hour, isDue);
}

/** Hours with another number of rows than at their last run, newest first. Dropped months are left out. */
function changedHours(em: EntityManager, hours: Statement, isDue: Statement): Promise<{ hour: string }[]> {
  return query(
    em,
    sql`
    select log.hour::text from (select hour, sum(requests)::bigint as requests from usage_hour_all
      where ${hours} group by hour) log
    left join uptime_hour_read as done on done.hour = log.hour
    where done.requests is distinct from log.requests and ${isDue}
      and not exists (select from usage_partition p
        where p.dropped_at is not null and log.hour >= p.lower_at and log.hour < p.upper_at)
    order by log.hour desc`,
  );
}

/**
 * Computes one hour, unless another control plane has just computed it. The lock prevents that an older count
 * replaces a newer one.
 */
async function sumUpHour(em: EntityManager, hour: string, isDue: Statement): Promise<void> {
  await inTransaction(em, async (inner) => {
    await query(inner, sql`select pg_advisory_xact_lock(hashtextextended('uptime', 0))`);
    const hours = sql`hour = ${hour}::timestamptz`;
    if ((await changedHours(inner, hours, isDue)).length === 0) return;
    await query(
      inner,
      sql`
      with log as materialized (
        select model_name, family, wallet_id, outcome = any(${[...ANSWERED_OUTCOMES]}::text[]) as served,
          outcome = any(${[...FAILED_OUTCOMES]}::text[])
            or coalesce(error_code = any(${[...FAILED_CODES]}::text[]), false) as failed
        from usage_entry
        where at >= ${hour}::timestamptz and at < ${hour}::timestamptz + interval '1 hour'),
      noted as (
        insert into uptime_hour_read (hour, requests) select ${hour}::timestamptz, count(*) from log
        on conflict (hour) do update set requests = excluded.requests)
      insert into uptime_hour (hour, model_name, family, served, failed, customers)
      select ${hour}::timestamptz, model_name, family, count(*) filter (where served),
        count(*) filter (where failed), bit_or(1::bigint << (hashtextextended(wallet_id, 0) & 63)::integer)
      from log where served or failed group by 2, 3
      on conflict (hour, model_name, family) do update set served = excluded.served,
        failed = excluded.failed, customers = excluded.customers`,
    );
  });
}

/**
 * Notes for each model and family of these providers, which were just probed, whether the model can be
 * reached: it can if the last probe of one of its upstreams was successful, and it cannot if the last probes
 * of all of them failed. A busy upstream, or one that is not probed, proves neither.
 */
export async function noteProbes(em: EntityManager, providerIds: readonly string[]): Promise<void> {
  if (providerIds.length === 0) return;
  await query(
    em,
    sql`
    insert into uptime_hour as u (hour, model_name, family, checks_up, checks_down)
    select date_trunc('hour', clock_timestamp(), 'UTC'), checked.name, checked.family,
      up::integer, (not up)::integer
    from (select m.name, f.family, bool_or(probe.at is not null and probe.error is null) as up,
        bool_and(probe.at is not null and probe.error is not null and probe.error <> 'BUSY') as down
      from model m cross join lateral unnest(m.families) as f (family)
      join route r on r.model_id = m.id and r.enabled and (f.family = any(r.families)
        or (f.family = any(${[...CHAT_FAMILIES]}::text[]) and r.families && ${[...CHAT_FAMILIES]}::text[]))
      join provider p on p.id = r.provider_id and p.enabled
      left join upstream_probe as probe on probe.provider_id = p.id and p.probe_minutes is not null
      group by m.name, f.family having bool_or(p.id = any(${[...providerIds]}::text[]))) checked
    where up or down
    on conflict (hour, model_name, family) do update set checks_up = u.checks_up + excluded.checks_up,
      checks_down = u.checks_down + excluded.checks_down`,
  );
}
