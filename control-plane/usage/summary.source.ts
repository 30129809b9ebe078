/**
 * Builds the source of a summary: stored sums by week, day or hour where their dimensions suffice, and rows
 * of the log for incomplete hours at both ends of the range, or for conditions that only rows can answer.
 */
import { all, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { whereOf } from './usage.service.ts';
import type { WalletConditions } from './usage.service.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** First Monday after 1970-01-01, which was a Thursday; weeks begin on Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

const FAILED = sql`case when status = 'SUCCEEDED' then 0 else requests end`;

/** The widest stored sums that a summary may use. */
export type WidestSpan = 'HOUR' | 'DAY' | 'WEEK';

interface Span {
  from: Date;
  to: Date;
}

export interface SummarySpan {
  range: Span;
  conditions: WalletConditions;
  /** Whether the summary groups by key or wallet. */
  byOwner: boolean;
  /** DAY or WEEK only if the summary groups by wallet and time alone; by default HOUR. */
  widest?: WidestSpan;
}

/** SQL of a derived table of sums with their dimensions; `at` is the time of a row or the start of a sum. */
export function summarySource({ range, conditions, byOwner, widest = 'HOUR' }: SummarySpan): Statement {
  const hours = wholeSpan(range, HOUR_MS);
  if (asksForRows(conditions) || !hours) return sql`(${rowsOf(conditions, range)})`;
  const owned = byOwner || Boolean(conditions.walletId) || Boolean(conditions.keyIds);
  const fromHours = (span: Span): Statement[] => [(owned ? hoursOf : hoursOfAll)(conditions, span)];
  const inside =
    widest === 'HOUR' || asksForDimensions(conditions)
      ? fromHours(hours)
      : spansOfWallets(conditions, { span: hours, widest, narrower: fromHours });
  const parts = [...inside, ...edges(range, hours).map((span) => rowsOf(conditions, span))];
  return sql`(${parts.reduce((left, right) => sql`${left} union all ${right}`)})`;
}

/**
 * Whether a condition needs rows of the log, because stored sums lack requests, addresses and single costs.
 */
export function asksForRows({ requestId, ip, minCost }: WalletConditions): boolean {
  return Boolean(requestId) || Boolean(ip) || Boolean(minCost);
}

/** Whether a condition needs a dimension other than the wallet, which daily and weekly sums lack. */
export function asksForDimensions(conditions: WalletConditions): boolean {
  const { modelNames, keyIds, poolIds, sources, statuses } = conditions;
  return [modelNames, keyIds, poolIds, sources, statuses].some(Boolean);
}

/** The largest part of a span that consists of whole units; undefined if there is none. */
function wholeSpan(span: Span, unitMs: number, originMs = 0): Span | undefined {
  const from = Math.ceil((span.from.getTime() - originMs) / unitMs) * unitMs + originMs;
  const to = Math.floor((span.to.getTime() - originMs) / unitMs) * unitMs + originMs;
  return from < to ? { from: new Date(from), to: new Date(to) } : undefined;
}

/** The parts of a span before and after its inner part, without empty ones. */
function edges(span: Span, inner: Span): Span[] {
  return [
    { from: span.from, to: inner.from },
    { from: inner.to, to: span.to },
  ].filter(({ from, to }) => from < to);
}

interface WalletSpans {
  span: Span;
  widest: 'DAY' | 'WEEK';
  narrower(span: Span): Statement[];
}

/**
 * Sums of wallets: weeks in the middle if `widest` is WEEK, days around them, and `narrower` parts at the
 * ends.
 */
function spansOfWallets(conditions: WalletConditions, { span, widest, narrower }: WalletSpans): Statement[] {
  const inner = widest === 'WEEK' ? wholeSpan(span, WEEK_MS, FIRST_MONDAY_MS) : wholeSpan(span, DAY_MS);
  const next = (outer: Span): Statement[] =>
    widest === 'WEEK'
      ? spansOfWallets(conditions, { span: outer, widest: 'DAY', narrower })
      : narrower(outer);
  if (!inner) return next(span);
  return [walletSpans(conditions, widest, inner), ...edges(span, inner).flatMap(next)];
}

function walletSpans({ walletId }: WalletConditions, width: 'DAY' | 'WEEK', { from, to }: Span): Statement {
  const list = [sql`width = ${width} and at >= ${from} and at < ${to}`];
  if (walletId) list.push(sql`wallet_id = ${walletId}`);
  return sql`select at, wallet_id, null as key_id, null as model_name, null as pool_id,
      null as billing_group, null as source, null as status, requests, failed,
      input_tokens, output_tokens, cached_tokens, cost
    from usage_wallet_span where ${all(list)}`;
}

function rowsOf(conditions: WalletConditions, range: Span): Statement {
  return sql`select at, wallet_id, key_id, model_name, coalesce(pool_id, '') as pool_id, billing_group,
      source, status, 1 as requests, case when status = 'SUCCEEDED' then 0 else 1 end as failed,
      coalesce(input_tokens, 0) as input_tokens,
      coalesce(output_tokens, 0) as output_tokens, coalesce(cached_tokens, 0) as cached_tokens, cost
    from usage_entry where ${whereOf({ ...conditions, range })}`;
}

function hoursOf(conditions: WalletConditions, range: Span): Statement {
  const { keyIds, walletId } = conditions;
  const list = [dimensionsOf(conditions, range)];
  if (keyIds) list.push(sql`key_id = any(${[...keyIds]}::text[])`);
  if (walletId) list.push(sql`wallet_id = ${walletId}`);
  return sql`select hour as at, wallet_id, key_id, model_name, pool_id, billing_group, source, status,
      requests, ${FAILED} as failed, input_tokens, output_tokens, cached_tokens, cost
    from usage_hour where ${all(list)}`;
}

function hoursOfAll(conditions: WalletConditions, range: Span): Statement {
  return sql`select hour as at, null as wallet_id, null as key_id, model_name, pool_id, billing_group, source,
      status, requests, ${FAILED} as failed, input_tokens, output_tokens, cached_tokens, cost
    from usage_hour_all where ${dimensionsOf(conditions, range)}`;
}

/** Requests of these pools in stored sums, where those without a pool have an empty text. */
export function inPools(poolIds: readonly string[]): Statement {
  return sql`pool_id = any(${poolIds.filter((id) => id !== '')}::text[])`;
}

function dimensionsOf({ modelNames, poolIds, sources, statuses }: WalletConditions, range: Span): Statement {
  const list = [sql`hour >= ${range.from} and hour < ${range.to}`];
  if (modelNames) list.push(sql`model_name = any(${[...modelNames]}::text[])`);
  if (poolIds) list.push(inPools(poolIds));
  if (sources) list.push(sql`source = any(${[...sources]}::text[])`);
  if (statuses) list.push(sql`status = any(${[...statuses]}::text[])`);
  return all(list);
}
