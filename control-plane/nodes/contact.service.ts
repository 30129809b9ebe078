/** Heartbeats of node processes: they confirm leases and free the Idempotency-Keys of earlier processes. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../graphql/errors.ts';
import { EVERYBODY, publish } from '../database/events.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';

/**
 * Records contact with the process that holds the journal, which confirms its leases. Throws NOT_FOUND for an
 * unknown journal, and if another process than `instanceId` holds it.
 */
export async function touchJournal(
  em: EntityManager,
  nodeId: string,
  { journalId, instanceId = null }: { journalId: string; instanceId?: string | null | undefined },
): Promise<void> {
  const touched = await queryOne(
    em,
    sql`
    update node_journal set last_contact_at = clock_timestamp()
    where id = ${journalId} and node_id = ${nodeId}
      and (${instanceId}::text is null or instance_id = ${instanceId}) returning id`,
  );
  if (!touched)
    throw new UserFailure(
      'NOT_FOUND',
      'This process is not registered with this journal. Restart it with its own DATA_DIR.',
      'journalId',
    );
}

/** State that a node reports about itself. */
export interface Heartbeat {
  journalId: string;
  /** The process; absent from earlier releases. */
  instanceId?: string | null | undefined;
  /** Whether all charges that earlier processes left in the journal are settled. */
  formerSettled?: boolean | null | undefined;
  /** Whether this is the last message of a process that stops. */
  leaving?: boolean | null | undefined;
  appliedRevision: number;
  rps: string;
  inflight: number;
  eventLoopP99Ms: number;
  usageBacklog: number;
}

/**
 * Stores a node's measurements and confirms its leases. With `formerSettled`, also frees the Idempotency-Keys
 * of earlier processes. Throws NOT_FOUND for a process that is not registered with this journal, and CONFLICT
 * if another process has become the node.
 */
export async function heartbeat(em: EntityManager, nodeId: string, beat: Heartbeat): Promise<void> {
  await inTransaction(em, async (inner) => {
    const isNode = await queryOne(
      inner,
      sql`
      update data_plane_node set last_seen_at = clock_timestamp(), rps = ${beat.rps},
        inflight = ${beat.inflight}, event_loop_p99_ms = ${beat.eventLoopP99Ms},
        usage_backlog = ${beat.usageBacklog},
        journal_id = case when ${beat.leaving === true} then null else journal_id end
      where id = ${nodeId} and journal_id = ${beat.journalId} returning id`,
    );
    await touchJournal(inner, nodeId, beat);
    if (!isNode)
      throw new UserFailure(
        'CONFLICT',
        'Another process has replaced this one. Give each process its own node, token and DATA_DIR.',
        'journalId',
      );
    if (beat.formerSettled === true)
      await query(
        inner,
        sql`
        update node_journal set settled_start = start
        where id = ${beat.journalId} and instance_id = ${beat.instanceId ?? null} and settled_start < start`,
      );
    await publish(inner, 'adminNodeUpdated', { audience: EVERYBODY, id: nodeId });
  });
}
