/**
 * Pure rules of a pool's requests-per-minute cap: all nodes together admit at most the cap in any sliding 60
 * s. Times are in ms of the control plane's permit clock.
 */
import { ALONE_MAX_MS, BUCKET_MS, PROMISE_MS, WINDOW_MS, shareOf } from '@gateway/shared/permits';
import type { Place } from '@gateway/shared/permits';

/** Permits that a node has not reported as finished; each may be used until `expiresAt`. */
export interface Grant {
  id: string;
  nodeId: string;
  permits: number;
  grantedAt: number;
  expiresAt: number;
}

/** Requests admitted at `at` or earlier. */
export interface Use {
  at: number;
  used: number;
}

/** A grant that a node has finished: its unused permits will never be used. */
export interface Finished {
  grantId: string;
  /** Number of permits used. */
  used: number;
  /** Time since the last use when the node reported it, at least, in ms. */
  agoMs: number;
}

/**
 * A node that promises to admit nothing without permits. Without a valid promise the node may be alone, and
 * then it admits its share of the cap without permits.
 */
export interface PermitNode {
  nodeId: string;
  /** End of the promise. */
  promisedUntil: number;
  /** Until then the node may have admitted requests without permits that it cannot report. */
  uncountedUntil: number;
  /** The place that determines the node's share. */
  place: Place;
}

/** Everything that counts towards a pool's cap. */
export interface PoolLog {
  cap: number;
  grants: readonly Grant[];
  uses: readonly Use[];
  nodes: readonly PermitNode[];
}

/** `promisedUntil` of a node that left or was written off. It admits nothing alone until its next promise. */
const LEFT = Number.MAX_SAFE_INTEGER;

/** The answer to a permit request. */
export interface PermitVerdict {
  granted: number;
  /** Permits that are free after this grant. */
  remaining: number;
  /** Time until the next grant or use stops counting, in ms; 0 if none counts. */
  resetMs: number;
}

/**
 * How many of the wanted permits a node gets now. A grant counts until 60 s after it expired, a use until
 * 60 s after it happened, and the share of a node that may be alone counts in full.
 */
export function judgePermits(
  log: PoolLog,
  { nodeId, want }: { nodeId: string; want: number },
  now: number,
): PermitVerdict {
  const ends = [
    ...log.grants.map(({ expiresAt, permits }) => ({ at: expiresAt + WINDOW_MS, permits })),
    ...log.uses.map(({ at, used }) => ({ at: at + WINDOW_MS, permits: used })),
  ].filter(({ at }) => at > now);
  const counted = ends.reduce((sum, { permits }) => sum + permits, 0);
  const free = Math.max(0, log.cap - counted - reserved(log, nodeId, now));
  const granted = hasPromised(log, nodeId, now) ? Math.min(Math.max(0, want), free) : 0;
  const resetMs = ends.length > 0 ? Math.min(...ends.map(({ at }) => at)) - now : 0;
  return { granted, remaining: free - granted, resetMs };
}

/** Whether the node's promise is valid. Only then it gets permits, because otherwise it may also be alone. */
function hasPromised({ nodes }: PoolLog, nodeId: string, now: number): boolean {
  return nodes.some((node) => node.nodeId === nodeId && node.promisedUntil > now);
}

/** Number of permits kept free for the shares of nodes that may be alone, or were within the last minute. */
function reserved({ cap, nodes }: PoolLog, requester: string, now: number): number {
  return nodes
    .filter((node) => countsInFull(node, requester, now))
    .reduce((sum, { place }) => sum + shareOf(cap, place), 0);
}

function countsInFull(
  { nodeId, promisedUntil, uncountedUntil, place }: PermitNode,
  requester: string,
  now: number,
): boolean {
  if (uncountedUntil + WINDOW_MS > now) return true;
  if (nodeId === requester) return false;
  // A node that is the only registered one takes the whole cap as soon as it is alone.
  const believesOnly = place.nodes === 1 && promisedUntil !== LEFT;
  return mayBeAlone({ promisedUntil }, now) || (believesOnly && promisedUntil > now);
}

/** Whether the node may be admitting requests without permits, or may have done so within the last minute. */
function mayBeAlone({ promisedUntil }: Pick<PermitNode, 'promisedUntil'>, now: number): boolean {
  return promisedUntil <= now && promisedUntil + ALONE_MAX_MS + WINDOW_MS > now;
}

/**
 * The node after an administrator has written it off. A node with a valid promise is not changed, because it
 * is connected. The share of any other node counts for one more minute.
 */
export function nodeAfterWriteOff(node: PermitNode, now: number): PermitNode {
  return mayBeAlone(node, now) ? { ...node, promisedUntil: LEFT, uncountedUntil: now } : node;
}

/**
 * The uses of finished grants. A use is never dated before its grant, and never exceeds the permits of the
 * grant.
 */
export function usesOf(finished: readonly Finished[], grants: readonly Grant[], now: number): Use[] {
  return finished.flatMap(({ grantId, used, agoMs }) => {
    const grant = grants.find(({ id }) => id === grantId);
    if (!grant || used <= 0) return [];
    return [useAt(Math.max(grant.grantedAt, now - agoMs), Math.min(used, grant.permits))];
  });
}

/** A use, with its time rounded up to 100 ms. */
export function useAt(at: number, used: number): Use {
  return { at: Math.ceil(at / BUCKET_MS) * BUCKET_MS, used };
}

/**
 * Whether a node may admit the share of this place without permits: together with the shares of all other
 * nodes that may be alone, now or later, it must not exceed the cap, for any cap. Nodes that know of
 * different numbers of nodes have shares that do not add up.
 */
export function hasRoom(
  place: Place,
  nodeId: string,
  { nodes, now }: { nodes: readonly PermitNode[]; now: number },
): boolean {
  const places = nodes
    .filter((node) => node.nodeId !== nodeId && mayBecomeAlone(node, now))
    .map((node) => node.place);
  const dividing = [place, ...places].filter((each) => each.index >= 0 && each.index < each.nodes);
  // For a cap of at least `most`, each share is at most cap / nodes; then the sum of 1 / nodes decides.
  const most = Math.max(0, ...dividing.map((each) => each.nodes));
  const caps = Array.from({ length: most }, (_, at) => at + 1);
  const isWithin = (cap: number): boolean =>
    dividing.reduce((sum, each) => sum + shareOf(cap, each), 0) <= cap;
  return caps.every(isWithin) && dividing.reduce((sum, each) => sum + 1 / each.nodes, 0) < 1 + ROUNDING;
}

/** Tolerance for rounding errors of a sum of fractions. */
const ROUNDING = 1e-9;

/** Whether the node is, was within the last minute, or can become alone. */
function mayBecomeAlone({ promisedUntil }: PermitNode, now: number): boolean {
  return promisedUntil !== LEFT && promisedUntil + ALONE_MAX_MS + WINDOW_MS > now;
}

/**
 * A node's promise to admit nothing without permits for `PROMISE_MS` after an answer of the control plane.
 */
export interface PermitPromise {
  nodeId: string;
  /** Permit clock in the last answer that the node received. */
  heard: number;
  place: Place;
  /** False if the node does not know which requests it admitted before its start. */
  remembers: boolean;
  /** Whether the node is shutting down and will admit nothing before its next promise. */
  leaving: boolean;
}

/** The node after its promise; undefined if the promise has already expired. */
export function nodeAfterPromise(
  { nodeId, heard, place, remembers, leaving }: PermitPromise,
  before: PermitNode | undefined,
  now: number,
): PermitNode | undefined {
  const until = Math.min(heard, now) + PROMISE_MS;
  if (until <= now) return undefined;
  const mayHaveAdmitted = !remembers && before !== undefined && before.promisedUntil <= now;
  const uncountedUntil = mayHaveAdmitted ? now : (before?.uncountedUntil ?? 0);
  const isUncounted = uncountedUntil + WINDOW_MS > now;
  return {
    nodeId,
    promisedUntil: leaving ? LEFT : until,
    uncountedUntil,
    place: before && keepsPlace(before, place, { until, isUncounted }) ? before.place : place,
  };
}

/**
 * Whether the old place stays: for a promise that arrives late, and while a larger old share may be in use.
 */
function keepsPlace(
  before: PermitNode,
  place: Place,
  { until, isUncounted }: { until: number; isUncounted: boolean },
): boolean {
  const isLate = before.promisedUntil !== LEFT && until < before.promisedUntil;
  return isLate || (isUncounted && before.place.index >= 0 && before.place.nodes <= place.nodes);
}
