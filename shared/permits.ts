/**
 * The RPM cap of a pool over all nodes: the times that both planes agree on, and how the cap is divided among
 * nodes that the control plane does not hear.
 */

/** At most CAP requests are admitted in any span of this length, over all nodes, in ms. */
export const WINDOW_MS = 60_000;

/** How long after its request was sent a node may use a permit, in ms. */
export const PERMIT_TTL_MS = 2_000;

/** Times in the control plane's log are rounded up to this, in ms. */
export const BUCKET_MS = 100;

/**
 * How long after an answer of the control plane, at least, a node admits nothing without permits, in ms: so
 * long the control plane need not keep the node's share free.
 */
export const PROMISE_MS = 5_000;

/** How long after the last answer a node may admit without permits, in ms; then others get its share. */
export const ALONE_MAX_MS = 24 * 60 * 60 * 1_000;

/** One permit request reports at most so many grants; one promise so many uses. */
export const FINISHED_MAX = 100;
export const ALONE_USES_MAX = 5_000;

/** The place of a node among the registered ones, sorted by id; `index` is -1 where it is not among them. */
export interface Place {
  nodes: number;
  index: number;
}

/**
 * How many requests in any 60 s a node may admit without permits: an equal part, rounded down. Where there
 * are more nodes than permits, the lowest ids get one each. The shares never sum to more than the cap.
 */
export function shareOf(cap: number, { nodes, index }: Place): number {
  if (index < 0 || index >= nodes) return 0;
  if (nodes > cap) return index < cap ? 1 : 0;
  return Math.floor(cap / nodes);
}
