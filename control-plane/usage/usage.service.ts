/** Reading the usage log: pages, single entries, sums. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Family, Group } from '@gateway/shared/catalog';
import type { UsageOutcome, UsageSource, UsageStatus } from '@gateway/shared/records';
import { all, query, queryOne, sql, toDate } from '../sql.ts';
import type { Statement } from '../sql.ts';
import { storableIp } from './settlement.rules.ts';

/** Conditions that hold together; null and undefined ask for nothing. */
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
}

/** The same with the user's wallet in place of the user: the only ones that become SQL, see `ofWallet`. */
export interface WalletConditions extends Omit<UsageConditions, 'userId'> {
  userId?: never;
  walletId?: string | null;
}

/** One entry of the usage log. */
export interface UsageView {
  id: string;
  requestId: string;
  modelName: string;
  keyId: string | null;
  poolId: string | null;
  /** For administrators alone. */
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
  createdAt: Date;
}

/** The place of an entry in the list: newest first. */
export interface UsagePlace {
  at: string;
  id: string;
}

/** GraphQL's Int ends here. */
const INT_MAX = 2 ** 31 - 1;

/** Entries newest first, after `after`, with the exact place of each for the next page. */
export async function usagePage(
  em: EntityManager,
  conditions: UsageConditions,
  page: { after?: UsagePlace | undefined; limit: number },
): Promise<{ entry: UsageView; place: UsagePlace }[]> {
  const after = page.after ? sql`(at, id) < (${page.after.at}::timestamptz, ${page.after.id})` : sql`true`;
  const rows = await query<UsageRow>(
    em,
    sql`
    select *, host(ip) as address, at::text as place from usage_entry
    where ${whereOf(await ofWallet(em, conditions))} and ${after}
    order by at desc, id desc limit ${page.limit}`,
  );
  return rows.map((row) => ({ entry: toView(row), place: { at: row.place, id: row.id } }));
}

/** The entry of a request; undefined where there is none, or where it is not the given user's. */
export async function usageOfRequest(
  em: EntityManager,
  requestId: string,
  userId: string | null,
): Promise<UsageView | undefined> {
  return (await usagePage(em, { requestId, userId }, { limit: 1 }))[0]?.entry;
}

/** The entries of these requests, by request id; what is not the given user's is left out. */
export async function usageOfRequests(
  em: EntityManager,
  requestIds: readonly string[],
  userId: string,
): Promise<ReadonlyMap<string, UsageView>> {
  const ids = [...requestIds];
  const rows = await query<UsageRow>(
    em,
    sql`
    select *, host(ip) as address, at::text as place from usage_entry
    where request_id = any(${ids}::text[])
      and at = any(array(select at from usage_request where request_id = any(${ids}::text[])))
      and ${whereOf(await ofWallet(em, { userId }))}`,
  );
  return new Map(rows.map((row) => [row.request_id, toView(row)]));
}

/** The conditions as SQL over `usage_entry`. */
export function whereOf(conditions: WalletConditions): Statement {
  const { range, modelNames, keyIds, poolIds, sources, statuses, requestId, ip, minCost, walletId } =
    conditions;
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
  return all(list);
}

/**
 * The same conditions with the user's wallet in place of the user: where the database adds up much it has to
 * know beforehand whose it is, since it takes any user of whom it knows nothing for a small one.
 */
export async function ofWallet(em: EntityManager, conditions: UsageConditions): Promise<WalletConditions> {
  const { userId, ...rest } = conditions;
  if (!userId) return rest;
  const row = await queryOne<{ id: string }>(em, sql`select id from wallet where user_id = ${userId}`);
  // A user without a wallet has used nothing.
  return { ...rest, walletId: row?.id ?? 'none' };
}

/** A row of the log as PostgreSQL gives it, with the address as text and the exact time. */
export interface UsageRow {
  id: string;
  request_id: string;
  place: string;
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
}

/** A row as the API shows it. */
export function toView(row: UsageRow): UsageView {
  return {
    id: row.id,
    requestId: row.request_id,
    modelName: row.model_name,
    // The Playground's own keys are nobody's business.
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
    createdAt: toDate(row.at),
  };
}

function countOf(text: string | null): number | null {
  return text === null ? null : Math.min(Number(text), INT_MAX);
}
