/** Configuration streams and acknowledgements of nodes, in the database. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { OFFLINE_AFTER_MS } from '@gateway/shared/node-api';
import { UserFailure } from '../graphql/errors.ts';
import type { Acknowledgement } from '../database/config-log.ts';
import { EVERYBODY, publish } from '../database/events.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import type { ServingWorker } from './confirmations.ts';

/** The channel of acknowledgements; the payload is the node's id. */
export const ACK_CHANNEL = 'gateway_ack';

/** A stream that was not confirmed for this long counts as closed; a feed confirms its streams every 5 s. */
const STREAM_FRESH_MS = 12_000;

/**
 * Added to the configuration age of a node, in ms: events on their way, and the interval at which streams are
 * confirmed and the uptime clock advances.
 */
const CONFIG_AGE_MARGIN_MS = 60_000;

const ERROR_LENGTH_MAX = 500;

/** Stores that the node applied or refused a revision. Throws CONFLICT if another process is the node. */
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
      throw new UserFailure('CONFLICT', 'Another process is the node. Register this process again.');
    await query(inner, sql`select pg_notify(${ACK_CHANNEL}, ${nodeId})`);
    await publish(inner, 'adminNodeUpdated', { audience: EVERYBODY, id: nodeId });
  });
}

/** Confirms that these streams are open, each as the only stream of its node. */
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

/** Stores that a stream ended, unless the node has opened another one since. */
export async function endStream(em: EntityManager, streamId: string): Promise<void> {
  await query(
    em,
    sql`update data_plane_node set stream_seen_at = null, stream_id = null where stream_id = ${streamId}`,
  );
}

/**
 * The workers of nodes that may still serve: those with an open stream, and all others that were not drained
 * and have a configuration that is not older than their MAX_CONFIG_AGE. A stopped node counts as well,
 * because a start without a control plane serves with the stored configuration.
 */
export async function servingNodes(em: EntityManager): Promise<ServingWorker[]> {
  const isStreaming = sql`coalesce(
    stream_seen_at > clock_timestamp() - ${STREAM_FRESH_MS} * interval '1 millisecond', false)`;
  // A process that stops gives up the journal.
  const isOnline = sql`coalesce(
    last_seen_at > clock_timestamp() - ${OFFLINE_AFTER_MS} * interval '1 millisecond', false)
    and journal_id is not null`;
  const rows = await query<{ id: string; node_id: string; applied_revision: number; reachable: boolean }>(
    em,
    sql`
    select id, coalesce(worker_of, id) as node_id, applied_revision,
      ${isStreaming} or ${isOnline} as reachable from data_plane_node
    where ${isStreaming} or (not draining and config_ms is not null
      and watched_ms() - config_ms <= max_config_age_ms + ${CONFIG_AGE_MARGIN_MS}) order by id`,
  );
  return rows.map((row) => ({
    id: row.id,
    nodeId: row.node_id,
    appliedRevision: row.applied_revision,
    isReachable: row.reachable,
  }));
}

/** The public key that seals credentials for the node; null until the node has registered. */
export async function publicKeyOf(em: EntityManager, nodeId: string): Promise<string | null> {
  const row = await queryOne<{ public_key: string | null }>(
    em,
    sql`select public_key from data_plane_node where id = ${nodeId}`,
  );
  return row?.public_key ?? null;
}
