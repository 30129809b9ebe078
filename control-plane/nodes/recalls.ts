/**
 * Tells connected nodes again which leases they were asked to give back and have not: a notification can be
 * lost, and so can what a node made of it.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ConfigEvent } from '@gateway/shared/node-api';
import { openRecalls } from '../wallet/lease.rows.ts';
import type { EventQueue } from './event-queue.ts';

/** How many a node is told of at a time; the next ones follow when it has taken these. */
const AT_A_TIME = 100;

/** A node that listens, and how far it has been told. */
export interface Listening {
  nodeId: string;
  queue: EventQueue<ConfigEvent>;
  /** The last lease that it was told of; '' to begin again with the first. */
  toldTo: string;
}

/**
 * Tells each node of the next leases that it still has, and after the last one of the first. A node that
 * has not taken what it was told before is told nothing more. One question to the database for all nodes.
 */
export async function tellRecalls(em: EntityManager, nodes: Iterable<Listening>): Promise<void> {
  const ready = [...nodes].filter(({ queue }) => queue.isEmpty);
  if (ready.length === 0) return;
  const places = ready.map(({ nodeId, toldTo }) => ({ nodeId, after: toldTo }));
  const recalled = await openRecalls(em, places, AT_A_TIME);
  for (const node of ready) {
    const leases = recalled.get(node.nodeId) ?? [];
    for (const leaseId of leases) node.queue.push({ __typename: 'LeaseRecall', leaseId });
    node.toldTo = leases[AT_A_TIME - 1] ?? '';
  }
}
