/** Reads and writes the rows behind a pool's cap: grants, uses, and promises of nodes. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { WINDOW_MS } from '@gateway/shared/permits';
import { query, sql } from '../database/sql.ts';
import type { Grant, PermitNode, PoolLog, Use } from './permit.rules.ts';

/** Serialises permit requests of the pool until the transaction ends. */
export async function lockPool(em: EntityManager, poolId: string): Promise<void> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended(${`permits ${poolId}`}, 0))`);
}

/** Serialises promises of all nodes until the transaction ends. */
export async function lockPlaces(em: EntityManager): Promise<void> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended('permit places', 0))`);
}

/** Everything that counts towards the cap at `now` (ms of the permit clock). The pool has to be locked. */
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
    nodes: await permitNodes(em),
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

/** The grant of a row. */
export function toGrant(row: GrantRow): Grant {
  return {
    id: row.id,
    nodeId: row.node_id,
    permits: row.permits,
    grantedAt: Number(row.granted_at),
    expiresAt: Number(row.expires_at),
  };
}

/** All nodes that have ever promised; or only the named one. */
export async function permitNodes(em: EntityManager, nodeId?: string): Promise<PermitNode[]> {
  const rows = await query<PermitNodeRow>(
    em,
    sql`select * from permit_node where ${nodeId === undefined ? sql`true` : sql`node_id = ${nodeId}`}`,
  );
  return rows.map((row) => ({
    nodeId: row.node_id,
    promisedUntil: Number(row.free_until),
    uncountedUntil: Number(row.suspect_until),
    place: { nodes: row.nodes, index: row.place },
  }));
}

interface PermitNodeRow {
  node_id: string;
  free_until: string;
  suspect_until: string;
  nodes: number;
  place: number;
}

/** Inserts or replaces the row of a node. */
export async function savePermitNode(em: EntityManager, node: PermitNode): Promise<void> {
  const { nodeId, promisedUntil, uncountedUntil, place } = node;
  await query(
    em,
    sql`insert into permit_node (node_id, free_until, suspect_until, nodes, place)
      values (${nodeId}, ${promisedUntil}, ${uncountedUntil}, ${place.nodes}, ${place.index})
      on conflict (node_id) do update set free_until = excluded.free_until,
        suspect_until = excluded.suspect_until, nodes = excluded.nodes, place = excluded.place`,
  );
}
