/**
 * Permits of pools: the log of the last minute in PostgreSQL, one pool's requests one after the other,
 * whichever process of the control plane they reach.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { FINISHED_MAX, PERMIT_TTL_MS, WINDOW_MS } from '@gateway/shared/permits';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import { hasRoom, judge, promised, useAt, usesOf, writtenOff } from './permit.rules.ts';
import type { Finished, PermitPromise, Use, Verdict } from './permit.rules.ts';
import { lockPlaces, lockPool, readLog, saveStanding, standings, toGrant } from './permit.rows.ts';
import type { GrantRow } from './permit.rows.ts';

/** Steps of the history of a pool's use, in ms. */
const HISTORY_STEP_MS = 10_000;
/** How far back the history goes, in ms. */
const HISTORY_MS = 48 * 60 * 60 * 1_000;

/** The time in ms that all processes of the control plane share; read under the lock of a pool. */
export type PermitClock = (em: EntityManager) => Promise<number>;

/** The database's clock. Rounded down: an answer never counts as later than it was given. */
export const databaseClock: PermitClock = async (em) => {
  const row = await queryOne<{ now: string }>(
    em,
    sql`select floor(extract(epoch from clock_timestamp()) * 1000)::bigint::text as now`,
  );
  return Number(row?.now);
};

export interface PermitRequest {
  nodeId: string;
  poolId: string;
  want: number;
  finished: readonly Finished[];
}

/** `grantId` is null where nothing was granted. */
export interface PermitAnswer extends Verdict {
  grantId: string | null;
  ttlMs: number;
}

/**
 * Takes back what the node has finished, then grants what is free of the wanted permits, at most. Nothing is
 * granted to a node whose promise is over. Throws NOT_FOUND for an unknown pool and INVALID.
 */
export async function requestPermits(
  em: EntityManager,
  request: PermitRequest,
  clock: PermitClock = databaseClock,
): Promise<PermitAnswer> {
  const { nodeId, poolId, want, finished } = request;
  const isWhole = [want, ...finished.flatMap(({ used, agoMs }) => [used, agoMs])].every((each) => each >= 0);
  if (!isWhole || finished.length > FINISHED_MAX)
    throw new UserFailure('INVALID', `Counts are not negative; at most ${FINISHED_MAX} grants at once.`);
  return inTransaction(em, async (inner) => {
    await lockPool(inner, poolId);
    const now = await clock(inner);
    const cap = await capOf(inner, poolId);
    await finish(inner, request, now);
    const log = await readLog(inner, { poolId, cap }, now);
    const verdict = judge(log, { nodeId, want }, now);
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

/** Requests that a node admitted without permits, `agoMs` before it says so, at least. */
export interface AloneUse {
  poolId: string;
  used: number;
  agoMs: number;
}

export interface PromiseRequest extends Omit<PermitPromise, 'heard' | 'remembers'> {
  /** Null promises nothing, and only asks for the clock. */
  heard: number | null;
  /** What the node admitted alone in the last 60 s; null where it does not know. */
  alone: readonly AloneUse[] | null;
}

/**
 * The clock to echo in the next promise, whether this one holds, and whether the node may act by its place
 * once the promise is over. Said once of a place, that stands.
 */
export interface PromiseAnswer {
  clock: number;
  accepted: boolean;
  hasRoom: boolean;
}

/**
 * Notes that a node admits nothing without permits for a while, and what it admitted before: from now on
 * others may have its share. A promise that was heard too late changes nothing.
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
    // Two that come at once must know of each other's share.
    await lockPlaces(inner);
    const nodes = await standings(inner);
    const before = nodes.find((node) => node.nodeId === nodeId);
    const standing = promised({ ...request, heard, remembers: alone !== null }, before, now);
    if (!standing) return { clock: now, accepted: false, hasRoom: false };
    for (const { poolId, used, agoMs } of alone ?? [])
      if (used > 0) await noteUses(inner, poolId, [useAt(now - Math.max(0, agoMs), used)]);
    await saveStanding(inner, standing);
    // Where another place counts for the node, nothing is said of the one that it asked for.
    const isItsOwn = standing.place === request.place;
    return {
      clock: now,
      accepted: true,
      hasRoom: isItsOwn && hasRoom(standing.place, nodeId, { nodes, now }),
    };
  });
}

/**
 * Takes an administrator's word that a silent node is gone for good: others have its share after a minute. Of
 * a node that is heard nothing changes. Changes nothing again where it is said twice.
 */
export async function writeOffNode(
  em: EntityManager,
  nodeId: string,
  clock: PermitClock = databaseClock,
): Promise<void> {
  const [before] = await standings(em, nodeId);
  if (!before) return;
  const { freeUntil, suspectUntil } = writtenOff(before, await clock(em));
  // A promise that is accepted in this moment counts: then the node is there.
  await query(
    em,
    sql`update permit_node set free_until = ${freeUntil}, suspect_until = ${suspectUntil}
      where node_id = ${nodeId} and free_until = ${before.freeUntil}`,
  );
}

/** Requests that were admitted in the last 60 s, as far as nodes have said so. */
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

/** The most requests that were admitted in any 60 s since then, in steps of 10 s; at most 48 hours back. */
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

/** Requests that were refused because of the cap since then, as far as nodes have reported them. */
export async function throttledSince(em: EntityManager, poolId: string, since: Date): Promise<number> {
  const row = await queryOne<{ count: number }>(
    em,
    sql`select count(*)::integer as count from usage_entry
      where pool_id = ${poolId} and at >= ${since} and status = 'THROTTLED'`,
  );
  return row?.count ?? 0;
}

/** Forgets what counts no longer. Returns how many rows went. */
export async function prunePermits(em: EntityManager, clock: PermitClock = databaseClock): Promise<number> {
  const now = await clock(em);
  const gone = await Promise.all([
    query(em, sql`delete from permit_use where at <= ${now - WINDOW_MS} returning pool_id`),
    query(em, sql`delete from permit_grant where expires_at <= ${now - WINDOW_MS} returning id`),
    query(em, sql`delete from permit_history where at <= ${now - HISTORY_MS} returning pool_id`),
  ]);
  return gone.flat().length;
}

/** What nodes were told is what they go by, so it is what the log goes by. */
async function capOf(em: EntityManager, poolId: string): Promise<number> {
  const row = await queryOne<{ cap: number }>(
    em,
    sql`select (payload ->> 'rpmCap')::integer as cap from config_log
      where kind = 'POOL' and key = ${poolId} and not removed`,
  );
  if (!row) throw new UserFailure('NOT_FOUND', 'There is no such pool.', 'poolId');
  return row.cap;
}

/** Replaces grants by what was used of them. Saying it twice changes nothing. */
async function finish(em: EntityManager, request: PermitRequest, now: number): Promise<void> {
  const { poolId, nodeId, finished } = request;
  if (finished.length === 0) return;
  const ids = finished.map(({ grantId }) => grantId);
  const rows = await query<GrantRow>(
    em,
    sql`delete from permit_grant where id = any(${ids}::text[]) and pool_id = ${poolId}
      and node_id = ${nodeId} returning *`,
  );
  await noteUses(em, poolId, usesOf(finished, rows.map(toGrant), now));
}

async function noteUses(em: EntityManager, poolId: string, uses: readonly Use[]): Promise<void> {
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
