/** Reads the usage log: pages and single entries. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Family, Group } from '@gateway/shared/catalog';
import type { UsageOutcome, UsageSource, UsageStatus } from '@gateway/shared/records';
import { readingOf } from '../database/page.ts';
import type { RowPage } from '../database/page.ts';
import { all, query, queryOne, sql, toDate } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { storableIp } from './settlement.rules.ts';

/** Filters that all have to match; null and undefined match every entry. */
export interface UsageConditions {
  range?: { from: Date; to: Date } | null;
  modelNames?: readonly string[] | null;
  keyIds?: readonly string[] | null;
  poolIds?: readonly string[] | null;
  sources?: readonly UsageSource[] | null;
  statuses?: readonly UsageStatus[] | null;
  requestId?: string | null;
  ip?: string | null;
  minCost?: bigint | null;
  userId?: string | null;
  /** Entries that were found elsewhere, by request ids and their exact times in PostgreSQL's text format. */
  found?: { requestIds: readonly string[]; ats: readonly string[] };
}

/** Filters with the user's wallet in place of the user, as SQL needs them; see `ofWallet`. */
export interface WalletConditions extends Omit<UsageConditions, 'userId'> {
  userId?: never;
  walletId?: string | null;
}

/** One entry of the usage log. Amounts are in micro-USD, times in ms. */
export interface UsageView {
  id: string;
  requestId: string;
  modelName: string;
  keyId: string | null;
  poolId: string | null;
  /** Only administrators may see it. */
  routeId: string | null;
  source: UsageSource;
  family: Family;
  group: Group;
  inputTokens: number | null;
  outputTokens: number | null;
  cachedTokens: number | null;
  reasoningTokens: number | null;
  basePrice: bigint;
  ratio: string;
  cost: bigint;
  ip: string | null;
  status: UsageStatus;
  outcome: UsageOutcome;
  httpStatus: number;
  errorCode: string | null;
  streamed: boolean;
  latencyMs: number | null;
  ttftMs: number | null;
  lossesInAnswer: number;
  repeats: number;
  createdAt: Date;
}

/** The cursor of an entry in a list. */
export interface UsageCursor {
  /** The exact time in PostgreSQL's text format, because a Date would lose microseconds. */
  at: string;
  id: string;
}

/** Largest value of GraphQL's Int. */
const INT_MAX = 2 ** 31 - 1;

/** A page of entries with the sort values of each; newest first by default. */
export async function usagePage(
  em: EntityManager,
  conditions: UsageConditions,
  { direction, ...page }: RowPage & { direction?: 'ASC' | 'DESC' },
): Promise<{ entry: UsageView; sortValues: string[] }[]> {
  const { orderSql, beyondSql } = readingOf(page, direction === 'ASC' ? 'asc' : 'desc');
  const [at = null, id = null] = page.from ?? [];
  const beyond = page.from ? sql`(at, id) ${beyondSql} (${at}::timestamptz, ${id})` : sql`true`;
  const rows = await query<UsageRow>(
    em,
    sql`
    select *, host(ip) as address, at::text as exact_at
    from usage_entry where ${whereOf(await ofWallet(em, conditions))} and ${beyond}
    order by at ${orderSql}, id ${orderSql} limit ${page.limit}`,
  );
  return rows.map((row) => ({ entry: toView(row), sortValues: [row.exact_at, row.id] }));
}

/** The entry of a request; undefined if it is unknown, or not the given user's (null for any user). */
export async function usageOfRequest(
  em: EntityManager,
  requestId: string,
  userId: string | null,
): Promise<UsageView | undefined> {
  return (await usagePage(em, { requestId, userId }, { limit: 1 }))[0]?.entry;
}

/** Entries by request id, without unknown ones and those of other users. */
export async function usageOfRequests(
  em: EntityManager,
  requestIds: readonly string[],
  userId: string,
): Promise<ReadonlyMap<string, UsageView>> {
  const ids = [...requestIds];
  const rows = await query<UsageRow>(
    em,
    sql`
    select *, host(ip) as address, at::text as exact_at from usage_entry
    where request_id = any(${ids}::text[])
      and at = any(array(select at from usage_request where request_id = any(${ids}::text[])))
      and ${whereOf(await ofWallet(em, { userId }))}`,
  );
  return new Map(rows.map((row) => [row.request_id, toView(row)]));
}

/** The filters as SQL over `usage_entry`. */
export function whereOf(conditions: WalletConditions): Statement {
  const { range, modelNames, keyIds, poolIds, sources, statuses, requestId, ip, minCost, walletId } =
    conditions;
  const { found } = conditions;
  const list: Statement[] = [];
  if (range) list.push(sql`at >= ${range.from} and at < ${range.to}`);
  if (modelNames) list.push(sql`model_name = any(${[...modelNames]}::text[])`);
  if (keyIds) list.push(sql`key_id = any(${[...keyIds]}::text[])`);
  if (poolIds) list.push(sql`pool_id = any(${[...poolIds]}::text[])`);
  if (sources) list.push(sql`source = any(${[...sources]}::text[])`);
  if (statuses) list.push(sql`status = any(${[...statuses]}::text[])`);
  if (requestId)
    list.push(
      sql`request_id = ${requestId} and at = (select at from usage_request where request_id = ${requestId})`,
    );
  if (ip) list.push(sql`ip = ${storableIp(ip)}::inet`);
  if (minCost) list.push(sql`cost >= ${minCost}`);
  if (walletId) list.push(sql`wallet_id = ${walletId}`);
  if (found)
    list.push(sql`request_id = any(${[...found.requestIds]}::text[])
      and at = any(${[...found.ats]}::timestamptz[])`);
  return all(list);
}

/**
 * Replaces the user in the filters by the id of the wallet. PostgreSQL plans well only for a literal wallet
 * id: with a sub-query it would assume that the user has few requests.
 */
export async function ofWallet(em: EntityManager, conditions: UsageConditions): Promise<WalletConditions> {
  const { userId, ...rest } = conditions;
  if (!userId) return rest;
  const row = await queryOne<{ id: string }>(em, sql`select id from wallet where user_id = ${userId}`);
  // A user without a wallet has no requests.
  return { ...rest, walletId: row?.id ?? 'none' };
}

/** A row of the log as the queries return it; `exact_at` is `at` with microseconds. */
export interface UsageRow {
  id: string;
  request_id: string;
  exact_at: string;
  at: string;
  model_name: string;
  key_id: string;
  pool_id: string | null;
  route_id: string | null;
  source: UsageSource;
  family: Family;
  billing_group: Group;
  input_tokens: string | null;
  output_tokens: string | null;
  cached_tokens: string | null;
  reasoning_tokens: string | null;
  base_price: string;
  ratio: string;
  cost: string;
  address: string | null;
  status: UsageStatus;
  outcome: UsageOutcome;
  http_status: number;
  error_code: string | null;
  streamed: boolean;
  latency_ms: number;
  ttft_ms: number | null;
  losses_in_answer: number;
  repeats: number;
}

/** A row as the API shows it. */
export function toView(row: UsageRow): UsageView {
  return {
    id: row.id,
    requestId: row.request_id,
    modelName: row.model_name,
    // Keys that the gateway itself uses, e.g. for the Playground, are not shown.
    keyId: row.source === 'API_KEY' || row.source === 'POOL_KEY' ? row.key_id : null,
    poolId: row.pool_id,
    routeId: row.route_id,
    source: row.source,
    family: row.family,
    group: row.billing_group,
    inputTokens: countOf(row.input_tokens),
    outputTokens: countOf(row.output_tokens),
    cachedTokens: countOf(row.cached_tokens),
    reasoningTokens: countOf(row.reasoning_tokens),
    basePrice: BigInt(row.base_price),
    ratio: row.ratio,
    cost: BigInt(row.cost),
    ip: row.address,
    status: row.status,
    outcome: row.outcome,
    httpStatus: row.http_status,
    errorCode: row.error_code,
    streamed: row.streamed,
    latencyMs: row.latency_ms,
    ttftMs: row.ttft_ms,
    lossesInAnswer: row.losses_in_answer,
    repeats: row.repeats,
    createdAt: toDate(row.at),
  };
}

function countOf(text: string | null): number | null {
  return text === null ? null : Math.min(Number(text), INT_MAX);
}
