/** The rows behind a pool's cap: grants, uses and what nodes promised. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { WINDOW_MS } from '@gateway/shared/permits';
import { query, sql } from '../sql.ts';
import type { Grant, PoolLog, Standing, Use } from './permit.rules.ts';

/** Until the transaction ends, no other one sees or changes what counts in this pool. */
export async function lockPool(em: EntityManager, poolId: string): Promise<void> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended(${`permits ${poolId}`}, 0))`);
}

/** Until the transaction ends, no other node is given a place. */
export async function lockPlaces(em: EntityManager): Promise<void> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended('permit places', 0))`);
}

/** Everything that counts at that time (ms of the clock of permits). The pool must be locked. */
export async function readLog(
  em: EntityManager,
  { poolId, cap }: { poolId: string; cap: number },
  now: number,
): Promise<PoolLog> {
  const grants = await query<GrantRow>(
    em,
    sql`select * from permit_grant where pool_id = ${poolId} and expires_at > ${now - WINDOW_MS}`,
  );
  const uses = await query<{ at: string; used: number }>(
    em,
    sql`select at, used from permit_use where pool_id = ${poolId} and at > ${now - WINDOW_MS}`,
  );
  return {
    cap,
    grants: grants.map(toGrant),
    uses: uses.map(({ at, used }): Use => ({ at: Number(at), used })),
    nodes: await standings(em),
  };
}

/** A row of `permit_grant`. */
export interface GrantRow {
  id: string;
  node_id: string;
  permits: number;
  granted_at: string;
  expires_at: string;
}

/** The grant in a row. */
export function toGrant(row: GrantRow): Grant {
  return {
    id: row.id,
    nodeId: row.node_id,
    permits: row.permits,
    grantedAt: Number(row.granted_at),
    expiresAt: Number(row.expires_at),
  };
}

/** What the nodes that ever promised something may do by themselves; of one node only where it is named. */
export async function standings(em: EntityManager, nodeId?: string): Promise<Standing[]> {
  const rows = await query<StandingRow>(
    em,
    sql`select * from permit_node where ${nodeId === undefined ? sql`true` : sql`node_id = ${nodeId}`}`,
  );
  return rows.map((row) => ({
    nodeId: row.node_id,
    freeUntil: Number(row.free_until),
    suspectUntil: Number(row.suspect_until),
    place: { nodes: row.nodes, index: row.place },
  }));
}

interface StandingRow {
  node_id: string;
  free_until: string;
  suspect_until: string;
  nodes: number;
  place: number;
}

/** Notes what a node may do by itself from now on. */
export async function saveStanding(em: EntityManager, standing: Standing): Promise<void> {
  const { nodeId, freeUntil, suspectUntil, place } = standing;
  await query(
    em,
    sql`insert into permit_node (node_id, free_until, suspect_until, nodes, place)
      values (${nodeId}, ${freeUntil}, ${suspectUntil}, ${place.nodes}, ${place.index})
      on conflict (node_id) do update set free_until = excluded.free_until,
        suspect_until = excluded.suspect_until, nodes = excluded.nodes, place = excluded.place`,
  );
}
