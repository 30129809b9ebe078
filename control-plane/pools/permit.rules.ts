/**
 * The RPM cap of a pool: never more than the cap in any sliding 60 s, over all nodes. No clock and no
 * database; times are ms of the control plane's clock.
 */
import { ALONE_MAX_MS, BUCKET_MS, PROMISE_MS, WINDOW_MS, shareOf } from '@gateway/shared/permits';
import type { Place } from '@gateway/shared/permits';

/** Permits that a node holds and has not accounted for: each may be used until `expiresAt`. */
export interface Grant {
  id: string;
  nodeId: string;
  permits: number;
  grantedAt: number;
  expiresAt: number;
}

/** Requests that were admitted, at that time or before. */
export interface Use {
  at: number;
  used: number;
}

/** What a node says of a grant that is over: the rest of its permits will never be used. */
export interface Finished {
  grantId: string;
  used: number;
  /** How long before it said so the last of them was used, at least, in ms. */
  agoMs: number;
}

/** What is known of a node that may admit without permits when it does not hear the control plane. */
export interface Standing {
  nodeId: string;
  /** Until then it promised not to. */
  freeUntil: number;
  /** Until then it may have done so, and nobody can tell how often. */
  suspectUntil: number;
  /** The place by which it would take its share. */
  place: Place;
}

/** Everything that bears on a pool's cap. */
export interface PoolLog {
  cap: number;
  grants: readonly Grant[];
  uses: readonly Use[];
  nodes: readonly Standing[];
}

/** The free time of a node that has ended or is gone for good: it does nothing before it promises again. */
export const GONE = Number.MAX_SAFE_INTEGER;

/** An answer to a node that asks for permits. */
export interface Verdict {
  granted: number;
  /** What is free beside that. */
  remaining: number;
  /** Until something that counts now counts no longer, in ms; 0 where nothing counts. */
  resetMs: number;
}

/**
 * How many of the wanted permits a node gets now. A grant counts until it expired 60 s ago, a use until it
 * was 60 s ago, and the share of a node that may act alone counts in full.
 */
export function judge(
  log: PoolLog,
  { nodeId, want }: { nodeId: string; want: number },
  now: number,
): Verdict {
  const ends = [
    ...log.grants.map(({ expiresAt, permits }) => ({ at: expiresAt + WINDOW_MS, permits })),
    ...log.uses.map(({ at, used }) => ({ at: at + WINDOW_MS, permits: used })),
  ].filter(({ at }) => at > now);
  const counted = ends.reduce((sum, { permits }) => sum + permits, 0);
  const free = Math.max(0, log.cap - counted - reserved(log, nodeId, now));
  const granted = isPromised(log, nodeId, now) ? Math.min(Math.max(0, want), free) : 0;
  const resetMs = ends.length > 0 ? Math.min(...ends.map(({ at }) => at)) - now : 0;
  return { granted, remaining: free - granted, resetMs };
}

/** Whether the node may hold permits: one that may act alone at the same time would count twice. */
export function isPromised({ nodes }: PoolLog, nodeId: string, now: number): boolean {
  return nodes.some((node) => node.nodeId === nodeId && node.freeUntil > now);
}

/** What is kept free for nodes that may be admitting requests without permits, or may have a moment ago. */
function reserved({ cap, nodes }: PoolLog, asking: string, now: number): number {
  return nodes
    .filter((node) => mayCount(node, asking, now))
    .reduce((sum, { place }) => sum + shareOf(cap, place), 0);
}

function mayCount(
  { nodeId, freeUntil, suspectUntil, place }: Standing,
  asking: string,
  now: number,
): boolean {
  if (suspectUntil + WINDOW_MS > now) return true;
  if (nodeId === asking) return false;
  const isSilent = isUnheard({ freeUntil }, now);
  // A node that believes to be the only one takes the whole cap at once when it hears nothing any more.
  const believesAlone = place.nodes === 1 && freeUntil !== GONE;
  return isSilent || (believesAlone && freeUntil > now);
}

/** Whether the node may be admitting requests by itself, or may have done so within the last minute. */
export function isUnheard({ freeUntil }: Pick<Standing, 'freeUntil'>, now: number): boolean {
  return freeUntil <= now && freeUntil + ALONE_MAX_MS + WINDOW_MS > now;
}

/**
 * The standing of a node of which an administrator says that it is gone for good. One that keeps a promise is
 * there, and says itself when it ends. What another one admitted by itself until now counts for a minute
 * more.
 */
export function writtenOff(standing: Standing, now: number): Standing {
  return isUnheard(standing, now) ? { ...standing, freeUntil: GONE, suspectUntil: now } : standing;
}

/**
 * The uses that finished grants leave in the log. None is dated before its grant, none used more than it
 * had.
 */
export function usesOf(finished: readonly Finished[], grants: readonly Grant[], now: number): Use[] {
  return finished.flatMap(({ grantId, used, agoMs }) => {
    const grant = grants.find(({ id }) => id === grantId);
    if (!grant || used <= 0) return [];
    return [useAt(Math.max(grant.grantedAt, now - agoMs), Math.min(used, grant.permits))];
  });
}

/** A use in the log, under the end of its 100 ms. */
export function useAt(at: number, used: number): Use {
  return { at: Math.ceil(at / BUCKET_MS) * BUCKET_MS, used };
}

/**
 * Whether the node may take the share of this place by itself: with those of all others that may act alone,
 * now or later, it comes to no more than the cap, whichever that is. Nodes that know of different numbers of
 * nodes divide it differently.
 */
export function hasRoom(
  place: Place,
  nodeId: string,
  { nodes, now }: { nodes: readonly Standing[]; now: number },
): boolean {
  const places = nodes
    .filter((node) => node.nodeId !== nodeId && mayActAlone(node, now))
    .map((node) => node.place);
  const dividing = [place, ...places].filter((each) => each.index >= 0 && each.index < each.nodes);
  // Of a cap above all of these numbers each share is at most an equal part.
  const most = Math.max(0, ...dividing.map((each) => each.nodes));
  const caps = Array.from({ length: most }, (_, at) => at + 1);
  const isWithin = (cap: number): boolean =>
    dividing.reduce((sum, each) => sum + shareOf(cap, each), 0) <= cap;
  return caps.every(isWithin) && dividing.reduce((sum, each) => sum + 1 / each.nodes, 0) < 1 + TINY;
}

/** Of a sum of parts that make a whole. */
const TINY = 1e-9;

/** Whether the node may come to admit requests by itself when it hears nothing any more. */
function mayActAlone({ freeUntil }: Standing, now: number): boolean {
  return freeUntil !== GONE && freeUntil + ALONE_MAX_MS + WINDOW_MS > now;
}

/** What a node promises: to admit nothing without permits for some time after the answer that it heard. */
export interface PermitPromise {
  nodeId: string;
  /** The control plane's clock in the last answer that the node heard. */
  heard: number;
  place: Place;
  /** False where the node does not know what it did before it was started. */
  remembers: boolean;
  /** It ends, and will do nothing before it promises again. */
  leaving: boolean;
}

/** The node's standing with the promise; undefined where the promise is over before it was heard. */
export function promised(
  { nodeId, heard, place, remembers, leaving }: PermitPromise,
  before: Standing | undefined,
  now: number,
): Standing | undefined {
  const until = Math.min(heard, now) + PROMISE_MS;
  if (until <= now) return undefined;
  const mayHaveActed = !remembers && before !== undefined && before.freeUntil <= now;
  const suspectUntil = mayHaveActed ? now : (before?.suspectUntil ?? 0);
  const isSuspect = suspectUntil + WINDOW_MS > now;
  return {
    nodeId,
    freeUntil: leaving ? GONE : until,
    suspectUntil,
    place: before && keepsPlace(before, place, { until, isSuspect }) ? before.place : place,
  };
}

/** A copy that comes late changes no place; and the greater share counts as long as it may be used up. */
function keepsPlace(
  before: Standing,
  place: Place,
  { until, isSuspect }: { until: number; isSuspect: boolean },
): boolean {
  const isLate = before.freeUntil !== GONE && until < before.freeUntil;
  return isLate || (isSuspect && before.place.index >= 0 && before.place.nodes <= place.nodes);
}
