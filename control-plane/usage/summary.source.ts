/**
 * What a summary adds up: the sums by hour where these know enough, and rows of the log for what is left of
 * its first and last hour, or for conditions that only a row can answer.
 */
import { all, sql } from '../sql.ts';
import type { Statement } from '../sql.ts';
import { whereOf } from './usage.service.ts';
import type { UsageConditions } from './usage.service.ts';

const HOUR_MS = 60 * 60 * 1000;

interface Span {
  from: Date;
  to: Date;
}

export interface SummarySpan {
  range: Span;
  conditions: UsageConditions;
  /** Whether the sums are told apart by key or by wallet. */
  byOwner: boolean;
}

/** A derived table of sums with their time and dimensions; `at` is that of a row, or the hour of a sum. */
export function summarySource({ range, conditions, byOwner }: SummarySpan): Statement {
  const from = new Date(Math.ceil(range.from.getTime() / HOUR_MS) * HOUR_MS);
  const to = new Date(Math.floor(range.to.getTime() / HOUR_MS) * HOUR_MS);
  if (asksForRows(conditions) || from >= to) return sql`(${rowsOf(conditions, range)})`;
  const owned = byOwner || Boolean(conditions.userId) || Boolean(conditions.keyIds);
  const parts = [owned ? hoursOf(conditions, { from, to }) : hoursOfAll(conditions, { from, to })];
  if (range.from < from) parts.push(rowsOf(conditions, { from: range.from, to: from }));
  if (to < range.to) parts.push(rowsOf(conditions, { from: to, to: range.to }));
  return sql`(${parts.reduce((left, right) => sql`${left} union all ${right}`)})`;
}

/** Sums know neither requests nor addresses, and one price only by adding it to others. */
function asksForRows({ requestId, ip, minCost }: UsageConditions): boolean {
  return Boolean(requestId) || Boolean(ip) || Boolean(minCost);
}

function rowsOf(conditions: UsageConditions, range: Span): Statement {
  return sql`select at, wallet_id, key_id, model_name, coalesce(pool_id, '') as pool_id, billing_group,
      source, status, 1 as requests, coalesce(input_tokens, 0) as input_tokens,
      coalesce(output_tokens, 0) as output_tokens, cost
    from usage_entry where ${whereOf({ ...conditions, range })}`;
}

function hoursOf(conditions: UsageConditions, range: Span): Statement {
  const { keyIds, userId } = conditions;
  const list = [dimensionsOf(conditions, range)];
  if (keyIds) list.push(sql`key_id = any(${[...keyIds]}::text[])`);
  if (userId) list.push(sql`wallet_id = (select id from wallet where user_id = ${userId})`);
  return sql`select hour as at, wallet_id, key_id, model_name, pool_id, billing_group, source, status,
      requests, input_tokens, output_tokens, cost
    from usage_hour where ${all(list)}`;
}

function hoursOfAll(conditions: UsageConditions, range: Span): Statement {
  return sql`select hour as at, null as wallet_id, null as key_id, model_name, pool_id, billing_group, source,
      status, requests, input_tokens, output_tokens, cost
    from usage_hour_all where ${dimensionsOf(conditions, range)}`;
}

function dimensionsOf({ modelNames, poolIds, sources, statuses }: UsageConditions, range: Span): Statement {
  const list = [sql`hour >= ${range.from} and hour < ${range.to}`];
  if (modelNames) list.push(sql`model_name = any(${[...modelNames]}::text[])`);
  if (poolIds) list.push(sql`pool_id = any(${[...poolIds]}::text[])`);
  if (sources) list.push(sql`source = any(${[...sources]}::text[])`);
  if (statuses) list.push(sql`status = any(${[...statuses]}::text[])`);
  return all(list);
}
