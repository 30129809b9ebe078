/** How far nodes have come with the configuration: their streams and acknowledgements. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../errors.ts';
import { EVERYBODY, publish } from '../events.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';

/** The channel on which acknowledgements are heard; its payload is the node's id. */
export const ACK_CHANNEL = 'gateway_ack';

/**
 * An open stream confirms itself this often at least, in ms; twice that and a bit later it counts as gone.
 */
export const STREAM_FRESH_MS = 12_000;

const ERROR_LENGTH_MAX = 500;

export interface Acknowledgement {
  /** The process; absent where an earlier release sends this. */
  instanceId?: string | null | undefined;
  revision: number;
  checksum: string;
  error: string | null;
}

/**
 * Notes that the node applied a revision, or why it refused it and serves the old one on. Throws CONFLICT
 * where another process than the one that is named is the node: what that one applied is not what it serves.
 */
export async function acknowledge(em: EntityManager, nodeId: string, ack: Acknowledgement): Promise<void> {
  const error = ack.error === null ? null : ack.error.slice(0, ERROR_LENGTH_MAX);
  const isNode = sql`id = ${nodeId} and (${ack.instanceId ?? null}::text is null or exists (
    select from node_journal j where j.id = n.journal_id and j.instance_id = ${ack.instanceId ?? null}))`;
  await inTransaction(em, async (inner) => {
    const noted = await queryOne(
      inner,
      error === null
        ? sql`update data_plane_node n set applied_revision = ${ack.revision},
          applied_checksum = ${ack.checksum}, applied_at = clock_timestamp(),
          last_seen_at = clock_timestamp(), last_ack_error = null where ${isNode} returning id`
        : sql`update data_plane_node n set last_seen_at = clock_timestamp(), last_ack_error = ${error}
          where ${isNode} returning id`,
    );
    if (!noted)
      throw new UserFailure('CONFLICT', 'Another process is the node. What this one applied does not count.');
    await query(inner, sql`select pg_notify(${ACK_CHANNEL}, ${nodeId})`);
    await publish(inner, 'adminNodeUpdated', { audience: EVERYBODY, id: nodeId });
  });
}

/** Confirms that these configuration streams are open; a node has one, the newest. */
export async function markStreams(
  em: EntityManager,
  streams: readonly { nodeId: string; streamId: string }[],
): Promise<void> {
  await query(
    em,
    sql`
    update data_plane_node n set stream_seen_at = clock_timestamp(), stream_id = s.stream_id
    from unnest(${streams.map((stream) => stream.nodeId)}::text[],
      ${streams.map((stream) => stream.streamId)}::text[])
      as s (node_id, stream_id) where n.id = s.node_id`,
  );
}

/** Notes that a stream ended, unless the node has opened another one since. */
export async function endStream(em: EntityManager, streamId: string): Promise<void> {
  await query(
    em,
    sql`update data_plane_node set stream_seen_at = null, stream_id = null where stream_id = ${streamId}`,
  );
}

/**
 * How far connected nodes have come with a revision. Nodes without an open stream do not count: they cannot
 * be reached.
 */
export async function acksOf(
  em: EntityManager,
  revision: number,
): Promise<{ appliedNodes: number; pendingNodes: string[] }> {
  const rows = await query<{ id: string; applied: boolean }>(
    em,
    sql`
    select id, applied_revision >= ${revision} as applied from data_plane_node
    where stream_seen_at > clock_timestamp() - ${STREAM_FRESH_MS} * interval '1 millisecond' order by id`,
  );
  return {
    appliedNodes: rows.filter((row) => row.applied).length,
    pendingNodes: rows.filter((row) => !row.applied).map((row) => row.id),
  };
}

/** The key that seals credentials for the node; null until it has registered. */
export async function publicKeyOf(em: EntityManager, nodeId: string): Promise<string | null> {
  const row = await queryOne<{ public_key: string | null }>(
    em,
    sql`select public_key from data_plane_node where id = ${nodeId}`,
  );
  return row?.public_key ?? null;
}
