/**
 * The requests-per-minute cap of a pool over all nodes: the times that both planes share, and how the cap is
 * divided among nodes that cannot reach the control plane.
 */

/** Length of the sliding window, in ms: all nodes together admit at most the cap in any such window. */
export const WINDOW_MS = 60_000;

/** How long after sending its request a node may use the permits, in ms. */
export const PERMIT_TTL_MS = 2_000;

/** Resolution of the times at which uses are counted, in ms. */
export const BUCKET_MS = 100;

/**
 * How long after each answer of the control plane a node admits nothing without permits, in ms. During this
 * time the control plane may grant the node's share to others.
 */
export const PROMISE_MS = 5_000;

/** How long after the last answer a node may admit requests without permits, in ms. */
export const ALONE_MAX_MS = 24 * 60 * 60 * 1_000;

/** Maximum number of finished grants in one permit request. */
export const FINISHED_MAX = 100;
/** Maximum number of entries in `alone` of one promise. */
export const ALONE_USES_MAX = 5_000;

/** Position of a node among the registered nodes, sorted by id; `index` is -1 if it is not registered. */
export interface Place {
  nodes: number;
  index: number;
}

/**
 * The number of requests that a node may admit without permits in any 60 s: the cap divided by the number of
 * nodes, rounded down. If there are more nodes than the cap, the nodes with the lowest ids get one each. The
 * shares of all nodes never sum to more than the cap.
 */
export function shareOf(cap: number, { nodes, index }: Place): number {
  if (index < 0 || index >= nodes) return 0;
  if (nodes > cap) return index < cap ? 1 : 0;
  return Math.floor(cap / nodes);
}
