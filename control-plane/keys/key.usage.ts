/** Usage of many keys at once: last request, spend of the month, summaries; and last uses of old secrets. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { OLD_SECRETS_MAX } from '@gateway/shared/old-secrets';
import type { OldSecretReport } from '@gateway/shared/old-secrets';
import { query, sql, toDate } from '../database/sql.ts';
import { summariesOfKeys, totalsBeforeOfKeys } from '../usage/summary.service.ts';
import type { KeySpan, PresentSummary } from '../usage/summary.service.ts';
import type { Totals } from '../usage/summary.sets.ts';
import { timingsOfKeys } from '../usage/timing.service.ts';
import type { SummaryTimings } from '../usage/timing.service.ts';

/** Time and client IP of the last request with a key. */
export interface LastUse {
  lastUsedAt: Date | null;
  lastUsedIp: string | null;
}

/** Parts of a summary key: range in ms since 1970, width of the points of the series, key id. */
type SummaryRequest = [from: number, to: number, bucket: KeySpan['bucket'], keyId: string];

/** The last use of each key. Unused keys are missing. */
export async function lastUsesOfKeys(
  em: EntityManager,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LastUse>> {
  const rows = await query<{ key_id: string; at: string | Date; ip: string | null }>(
    em,
    sql`select key_id, last_used_at as at, host(last_used_ip) as ip from usage_key
      where key_id = any(${[...ids]}::text[])`,
  );
  return new Map(rows.map((row) => [row.key_id, { lastUsedAt: new Date(row.at), lastUsedIp: row.ip }]));
}

/**
 * Records when old secrets were last used, as nodes report it. Ignores keys without a rotation, and uses from
 * before the current secret was revealed: they belong to an earlier rotation.
 */
export async function recordOldSecretUses(
  em: EntityManager,
  reports: readonly OldSecretReport[],
): Promise<void> {
  const ages = new Map(reports.slice(0, OLD_SECRETS_MAX).map(({ keyId, usedMsAgo }) => [keyId, usedMsAgo]));
  if (ages.size === 0) return;
  await query(
    em,
    sql`
    insert into key_old_secret_use as o (key_id, last_used_at)
    select id, at from (
      select k.id, k.revealed_at, clock_timestamp() - greatest(u.age, 0) * interval '1 millisecond' as at
      from unnest(${[...ages.keys()]}::text[], ${[...ages.values()]}::bigint[]) as u (id, age)
      join api_key k on k.id = u.id where k.previous_digest is not null) as used
    where at > revealed_at order by id
    on conflict (key_id) do update set last_used_at = greatest(o.last_used_at, excluded.last_used_at)`,
  );
}

/** When the old secret of each key was last used since the new one was revealed. Unused ones are missing. */
export async function oldSecretUsesOfKeys(
  em: EntityManager,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const rows = await query<{ key_id: string; at: string }>(
    em,
    sql`select key_id, last_used_at as at from key_old_secret_use join api_key k on k.id = key_id
      where key_id = any(${[...ids]}::text[]) and last_used_at > k.revealed_at`,
  );
  return new Map(rows.map((row) => [row.key_id, toDate(row.at)]));
}

/** Spend of each key in this calendar month (UTC), in micro-USD. Keys without spend are missing. */
export async function spendsOfKeys(
  em: EntityManager,
  ids: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await query<{ key_id: string; spent: string }>(
    em,
    sql`select key_id, sum(cost)::text as spent from usage_key_month where key_id = any(${[...ids]}::text[])
      and month >= date_trunc('month', clock_timestamp(), 'UTC') group by key_id`,
  );
  return new Map(rows.map((row) => [row.key_id, BigInt(row.spent)]));
}

/**
 * Encodes a request for the summary of one key as a batch key of `summariesByKey`, `totalsBeforeByKey` and
 * `timingsByKey`.
 */
export function summaryKey(keyId: string, { range, bucket }: KeySpan): string {
  return JSON.stringify([range.from.getTime(), range.to.getTime(), bucket, keyId]);
}

/** The summaries for these summary keys, with one query per span for all its keys. */
export function summariesByKey(
  em: EntityManager,
  summaryKeys: readonly string[],
): Promise<ReadonlyMap<string, PresentSummary>> {
  return bySpans(summaryKeys, (ids, span) => summariesOfKeys(em, ids, span));
}

/** The totals of the preceding span of equal length for these summary keys, with one query per span. */
export function totalsBeforeByKey(
  em: EntityManager,
  summaryKeys: readonly string[],
): Promise<ReadonlyMap<string, Totals>> {
  return bySpans(summaryKeys, (ids, { range }) => totalsBeforeOfKeys(em, ids, range));
}

/** The times of succeeded requests for these summary keys, with one query per span. */
export function timingsByKey(
  em: EntityManager,
  summaryKeys: readonly string[],
): Promise<ReadonlyMap<string, SummaryTimings>> {
  return bySpans(summaryKeys, (ids, span) => timingsOfKeys(em, ids, span));
}

/** Groups the summary keys by span and calls `load` once per span. */
async function bySpans<Value>(
  summaryKeys: readonly string[],
  load: (keyIds: readonly string[], span: KeySpan) => Promise<ReadonlyMap<string, Value>>,
): Promise<ReadonlyMap<string, Value>> {
  const found = new Map<string, Value>();
  const requests = summaryKeys.map((text) => ({ text, parts: JSON.parse(text) as SummaryRequest }));
  const spans = Map.groupBy(requests, ({ parts: [from, to, bucket] }) => `${from} ${to} ${bucket}`);
  for (const list of spans.values()) {
    const [[from, to, bucket] = [0, 0, null]] = list.map(({ parts }) => parts);
    const range = { from: new Date(from), to: new Date(to) };
    const ids = list.map(({ parts }) => parts[3]);
    const values = await load(ids, { range, bucket });
    for (const { text, parts } of list) {
      const value = values.get(parts[3]);
      if (value !== undefined) found.set(text, value);
    }
  }
  return found;
}
