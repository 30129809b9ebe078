/** Contact with the processes of nodes: it confirms their leases, and frees the keys that dead ones left. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../errors.ts';
import { EVERYBODY, publish } from '../events.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';

/**
 * Proves that the process behind the journal lives: its leases are confirmed from the moment it sent this.
 * Throws NOT_FOUND for an unknown journal, and where another process than the one that is named has it.
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
      'This process is not known with this journal. Start it anew, on a DATA_DIR of its own.',
      'journalId',
    );
}

export interface Heartbeat {
  journalId: string;
  /** The process; absent where an earlier release sends this. */
  instanceId?: string | null | undefined;
  /** Whether all is settled that the processes before it left in the journal. */
  formerSettled?: boolean | null | undefined;
  /** Whether this is the last word of a process that has ended its work. */
  leaving?: boolean | null | undefined;
  appliedRevision: number;
  rps: string;
  inflight: number;
  eventLoopP99Ms: number;
  usageBacklog: number;
}

/**
 * Takes a node's measurements, confirms its leases, and notes that what earlier processes left is settled:
 * their Idempotency-Keys are free then. Throws NOT_FOUND for a process that is not known with this journal,
 * and CONFLICT where another process has become the node meanwhile.
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
        'Another process has taken the place of this one. Start with a token and a DATA_DIR of your own.',
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
