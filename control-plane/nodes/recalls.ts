/**
 * Sends open lease recalls to connected nodes again until the leases are returned, because a notification, or
 * a node's reaction to it, can be lost.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { openRecalls } from '../wallet/lease.rows.ts';
import type { EventQueue } from './event-queue.ts';
import type { FeedEvent } from './sealed-events.ts';

/** Maximum number of recalls per node and round. */
const ROUND_RECALLS_MAX = 100;

/** A connected node and its position in the list of its recalls. */
export interface RecallTarget {
  nodeId: string;
  queue: EventQueue<FeedEvent>;
  /** Id of the lease whose recall was sent last; '' to start with the first. */
  lastRecalled: string;
}

/**
 * Queues for each node its next open recalls, starting over after the last one. Skips a node whose queue is
 * not empty. Makes one query for all nodes, or none if every node is skipped.
 */
export async function resendRecalls(em: EntityManager, nodes: Iterable<RecallTarget>): Promise<void> {
  const ready = [...nodes].filter(({ queue }) => queue.isEmpty);
  if (ready.length === 0) return;
  const positions = ready.map(({ nodeId, lastRecalled }) => ({ nodeId, after: lastRecalled }));
  const recalls = await openRecalls(em, positions, ROUND_RECALLS_MAX);
  for (const node of ready) {
    const leases = recalls.get(node.nodeId) ?? [];
    for (const leaseId of leases) node.queue.push({ __typename: 'LeaseRecall', leaseId });
    node.lastRecalled = leases[ROUND_RECALLS_MAX - 1] ?? '';
  }
}
