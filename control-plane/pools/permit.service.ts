/**
 * Permits of pools. The log of the last minute is in PostgreSQL, so that all control planes share it; permit
 * requests of one pool are serialised.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { FINISHED_MAX, PERMIT_TTL_MS, WINDOW_MS } from '@gateway/shared/permits';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { hasRoom, judgePermits, nodeAfterPromise, nodeAfterWriteOff, useAt, usesOf } from './permit.rules.ts';
import type { Finished, PermitPromise, PermitVerdict, Use } from './permit.rules.ts';
import { lockPlaces, lockPool, permitNodes, readLog, savePermitNode, toGrant } from './permit.rows.ts';
import type { GrantRow } from './permit.rows.ts';

/** Resolution of the history of uses, in ms. */
const HISTORY_STEP_MS = 10_000;
/** How long the history is kept, in ms. */
const HISTORY_MS = 48 * 60 * 60 * 1_000;
/** The largest number of the API's Int. */
const COUNT_MAX = 2 ** 31 - 1;

/** A clock in ms that all control planes share; read while the pool is locked. */
export type PermitClock = (em: EntityManager) => Promise<number>;

/** The database's clock, rounded down, so that a promise never counts from later than the answer. */
export const databaseClock: PermitClock = async (em) => {
  const row = await queryOne<{ now: string }>(
    em,
    sql`select floor(extract(epoch from clock_timestamp()) * 1000)::bigint::text as now`,
  );
  return Number(row?.now);
};

/** A node's request for permits of a pool. */
export interface PermitRequest {
  nodeId: string;
  poolId: string;
  want: number;
  finished: readonly Finished[];
}

/** The answer to a permit request. */
export interface PermitAnswer extends PermitVerdict {
  /** Null if nothing was granted. */
  grantId: string | null;
  /** How long after its request the node may use the permits, in ms. */
  ttlMs: number;
}

/**
 * Replaces the node's finished grants by their uses, then grants up to `want` free permits; none without a
 * valid promise of the node. Throws NOT_FOUND for an unknown pool, and INVALID for negative counts or too
 * many grants.
 */
export async function requestPermits(
  em: EntityManager,
  request: PermitRequest,
  clock: PermitClock = databaseClock,
): Promise<PermitAnswer> {
  const { nodeId, poolId, want, finished } = request;
  const isWhole = [want, ...finished.flatMap(({ used, agoMs }) => [used, agoMs])].every((each) => each >= 0);
  if (!isWhole || finished.length > FINISHED_MAX)
    throw new UserFailure(
      'INVALID',
      `Counts must not be negative. Report at most ${FINISHED_MAX} finished grants at once.`,
    );
  return inTransaction(em, async (inner) => {
    await lockPool(inner, poolId);
    const now = await clock(inner);
    const cap = await capOf(inner, poolId);
    await replaceFinished(inner, request, now);
    const log = await readLog(inner, { poolId, cap }, now);
    const verdict = judgePermits(log, { nodeId, want }, now);
    const grantId = verdict.granted > 0 ? newId('prm') : null;
    if (grantId)
      await query(
        inner,
        sql`insert into permit_grant (id, pool_id, node_id, permits, granted_at, expires_at)
          values (${grantId}, ${poolId}, ${nodeId}, ${verdict.granted}, ${now}, ${now + PERMIT_TTL_MS})`,
      );
    return { ...verdict, grantId, ttlMs: PERMIT_TTL_MS };
  });
}

/** Requests that a node admitted without permits, at least `agoMs` before it reports them. */
export interface AloneUse {
  poolId: string;
  used: number;
  agoMs: number;
}

/** A promise as a node sends it. */
export interface PromiseRequest extends Omit<PermitPromise, 'heard' | 'remembers'> {
  /** Null makes no promise: the answer then contains only the clock. */
  heard: number | null;
  /** Requests that the node admitted without permits in the last 60 s; null if it does not know. */
  alone: readonly AloneUse[] | null;
}

/** The answer to a promise. */
export interface PromiseAnswer {
  /** Permit clock, to send as `heard` in the next promise. */
  clock: number;
  /** Whether the promise counts. */
  accepted: boolean;
  /**
   * Whether the node may admit its share without permits after the promise has expired; once true, it stays
   * true.
   */
  hasRoom: boolean;
}

/**
 * Stores a node's promise and the requests it admitted without permits, so that other nodes can get its
 * share. A promise that arrives after its end changes nothing.
 */
export async function acceptPromise(
  em: EntityManager,
  request: PromiseRequest,
  clock: PermitClock = databaseClock,
): Promise<PromiseAnswer> {
  const { heard, nodeId, alone } = request;
  if (heard === null) return { clock: await clock(em), accepted: false, hasRoom: false };
  return inTransaction(em, async (inner) => {
    for (const poolId of new Set((alone ?? []).map((use) => use.poolId).toSorted()))
      await lockPool(inner, poolId);
    const now = await clock(inner);
    // Serialised, so that concurrent promises see each other's share.
    await lockPlaces(inner);
    const nodes = await permitNodes(inner);
    const before = nodes.find((node) => node.nodeId === nodeId);
    const node = nodeAfterPromise({ ...request, heard, remembers: alone !== null }, before, now);
    if (!node) return { clock: now, accepted: false, hasRoom: false };
    for (const { poolId, used, agoMs } of alone ?? [])
      if (used > 0) await addUses(inner, poolId, [useAt(now - Math.max(0, agoMs), used)]);
    await savePermitNode(inner, node);
    // The node gets its requested place only if no earlier place still counts for it.
    const isRequested = node.place === request.place;
    return {
      clock: now,
      accepted: true,
      hasRoom: isRequested && hasRoom(node.place, nodeId, { nodes, now }),
    };
  });
}

/**
 * Writes off a node that an administrator declares gone: other nodes get its share after a minute. Does
 * nothing for an unknown node or one with a valid promise, and nothing when repeated.
 */
export async function writeOffNode(
  em: EntityManager,
  nodeId: string,
  clock: PermitClock = databaseClock,
): Promise<void> {
  const [before] = await permitNodes(em, nodeId);
  if (!before) return;
  const { promisedUntil, uncountedUntil } = nodeAfterWriteOff(before, await clock(em));
  // A concurrent promise wins, because it shows that the node is connected.
  await query(
    em,
    sql`update permit_node set free_until = ${promisedUntil}, suspect_until = ${uncountedUntil}
      where node_id = ${nodeId} and free_until = ${before.promisedUntil}`,
  );
}

/** Number of requests admitted in the last 60 s, as far as nodes have reported them. */
export async function rpmNow(
  em: EntityManager,
  poolId: string,
  clock: PermitClock = databaseClock,
): Promise<number> {
  const since = (await clock(em)) - WINDOW_MS;
  const row = await queryOne<{ used: number }>(
    em,
    sql`select coalesce(sum(used), 0)::integer as used from permit_use
      where pool_id = ${poolId} and at > ${since}`,
  );
  return row?.used ?? 0;
}

/** Largest number of requests admitted in any 60 s since `since`, in steps of 10 s; at most 48 hours back. */
export async function rpmPeak(em: EntityManager, poolId: string, since: Date): Promise<number> {
  const row = await queryOne<{ peak: number }>(
    em,
    sql`select coalesce(max(used), 0)::integer as peak from (
      select sum(used) over (order by at range between ${WINDOW_MS - HISTORY_STEP_MS}::bigint preceding
        and current row) as used
      from permit_history where pool_id = ${poolId} and at >= ${since.getTime()}) minute`,
  );
  return row?.peak ?? 0;
}

/** Number of requests refused because of the cap since `since`, as far as nodes have reported them. */
export async function throttledSince(em: EntityManager, poolId: string, since: Date): Promise<number> {
  const row = await queryOne<{ count: number }>(
    em,
    // A row stands for all refusals of a key within a minute.
    sql`select least(coalesce(sum(1 + repeats), 0), ${COUNT_MAX})::integer as count from usage_entry
      where pool_id = ${poolId} and at >= ${since} and status = 'THROTTLED'`,
  );
  return row?.count ?? 0;
}

/** Deletes rows that no longer count, and returns how many. */
export async function prunePermits(em: EntityManager, clock: PermitClock = databaseClock): Promise<number> {
  const now = await clock(em);
  const gone = await Promise.all([
    query(em, sql`delete from permit_use where at <= ${now - WINDOW_MS} returning pool_id`),
    query(em, sql`delete from permit_grant where expires_at <= ${now - WINDOW_MS} returning id`),
    query(em, sql`delete from permit_history where at <= ${now - HISTORY_MS} returning pool_id`),
  ]);
  return gone.flat().length;
}

/** The cap as nodes know it, from the configuration log. */
async function capOf(em: EntityManager, poolId: string): Promise<number> {
  const row = await queryOne<{ cap: number }>(
    em,
    sql`select (payload ->> 'rpmCap')::integer as cap from config_log
      where kind = 'POOL' and key = ${poolId} and not removed`,
  );
  if (!row) throw new UserFailure('NOT_FOUND', 'Unknown pool. Check poolId.', 'poolId');
  return row.cap;
}

/** Replaces finished grants by their uses. Does nothing for grants that were already replaced. */
async function replaceFinished(em: EntityManager, request: PermitRequest, now: number): Promise<void> {
  const { poolId, nodeId, finished } = request;
  if (finished.length === 0) return;
  const ids = finished.map(({ grantId }) => grantId);
  const rows = await query<GrantRow>(
    em,
    sql`delete from permit_grant where id = any(${ids}::text[]) and pool_id = ${poolId}
      and node_id = ${nodeId} returning *`,
  );
  await addUses(em, poolId, usesOf(finished, rows.map(toGrant), now));
}

async function addUses(em: EntityManager, poolId: string, uses: readonly Use[]): Promise<void> {
  for (const { at, used } of uses) {
    const step = Math.floor(at / HISTORY_STEP_MS) * HISTORY_STEP_MS;
    await query(
      em,
      sql`
      with noted as (
        insert into permit_use (pool_id, at, used) values (${poolId}, ${at}, ${used})
        on conflict (pool_id, at) do update set used = permit_use.used + excluded.used
      )
      insert into permit_history (pool_id, at, used) values (${poolId}, ${step}, ${used})
      on conflict (pool_id, at) do update set used = permit_history.used + excluded.used`,
    );
  }
}
