/** How keys are being used, for many of them at once: last request, spend of the month, sums over a span. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { OLD_SECRETS_MAX } from '@gateway/shared/node-api';
import type { OldSecretReport } from '@gateway/shared/node-api';
import { query, sql, toDate } from '../sql.ts';
import { summariesOfKeys, totalsBeforeOfKeys } from '../usage/summary.service.ts';
import type { KeySpan, PresentSummary } from '../usage/summary.service.ts';
import type { Totals } from '../usage/summary.sets.ts';

export interface KeyUse {
  lastUsedAt: Date | null;
  lastUsedIp: string | null;
}

/** First and last moment in ms, width of the points, key. */
type Question = [from: number, to: number, bucket: KeySpan['bucket'], keyId: string];

/** When and from where each key was used last; unused ones are left out. */
export async function usesOfKeys(
  em: EntityManager,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KeyUse>> {
  const rows = await query<{ key_id: string; at: string | Date; ip: string | null }>(
    em,
    sql`select key_id, last_used_at as at, host(last_used_ip) as ip from usage_key
      where key_id = any(${[...ids]}::text[])`,
  );
  return new Map(rows.map((row) => [row.key_id, { lastUsedAt: new Date(row.at), lastUsedIp: row.ip }]));
}

/**
 * Keeps when nodes say that old secrets were used. What is older than the present secret was the use of one
 * before, and is left out, as are keys without a rotation.
 */
export async function keepOldSecretUses(em: EntityManager, given: readonly OldSecretReport[]): Promise<void> {
  const ages = new Map(given.slice(0, OLD_SECRETS_MAX).map(({ keyId, usedMsAgo }) => [keyId, usedMsAgo]));
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

/** When the old secret of each key was used last since the new one was revealed; unused ones are left out. */
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

/** What each key spent in this calendar month (UTC), in micro-USD; those that spent nothing are left out. */
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

/** A summary that is asked for of one key, as text, so that equal questions of many keys become one. */
export function summaryKey(keyId: string, { range, bucket }: KeySpan): string {
  return JSON.stringify([range.from.getTime(), range.to.getTime(), bucket, keyId]);
}

/** The summaries asked for by such texts: one question for each span, however many keys. */
export function summariesByKey(
  em: EntityManager,
  asked: readonly string[],
): Promise<ReadonlyMap<string, PresentSummary>> {
  return bySpans(asked, (ids, span) => summariesOfKeys(em, ids, span));
}

/** The sums of the spans before those of such texts, likewise. */
export function totalsBeforeByKey(
  em: EntityManager,
  asked: readonly string[],
): Promise<ReadonlyMap<string, Totals>> {
  return bySpans(asked, (ids, { range }) => totalsBeforeOfKeys(em, ids, range));
}

async function bySpans<Value>(
  asked: readonly string[],
  look: (keyIds: readonly string[], span: KeySpan) => Promise<ReadonlyMap<string, Value>>,
): Promise<ReadonlyMap<string, Value>> {
  const found = new Map<string, Value>();
  const questions = asked.map((text) => ({ text, parts: JSON.parse(text) as Question }));
  const spans = Map.groupBy(questions, ({ parts: [from, to, bucket] }) => `${from} ${to} ${bucket}`);
  for (const list of spans.values()) {
    const [[from, to, bucket] = [0, 0, null]] = list.map(({ parts }) => parts);
    const range = { from: new Date(from), to: new Date(to) };
    const ids = list.map(({ parts }) => parts[3]);
    const values = await look(ids, { range, bucket });
    for (const { text, parts } of list) {
      const value = values.get(parts[3]);
      if (value !== undefined) found.set(text, value);
    }
  }
  return found;
}
