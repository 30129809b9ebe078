/** State of a node's permits for its pools, and the events and effects of the permit rules. */
import { BUCKET_MS, PERMIT_TTL_MS, WINDOW_MS } from '@gateway/shared/permits';
import type { Place } from '@gateway/shared/permits';
import type { NodePermitAloneUse, NodePermitAnswer, NodePermitUse } from '@gateway/shared/permit-api';
import { SlidingCount } from './window.ts';

/** Permits that may be used until `expiresAt`. All times are ms of the node's monotonic clock. */
export interface HeldGrant {
  id: string;
  left: number;
  used: number;
  lastUseAt: number;
  expiresAt: number;
}

/** The permits and counters of one pool on this node. */
export interface Meter {
  poolId: string;
  /** Requests per minute over all nodes. */
  cap: number;
  grants: HeldGrant[];
  /** Used up or expired grants that are not yet reported to the control plane. */
  finishedGrants: { id: string; used: number; lastUseAt: number }[];
  /** The grants that the permit request under way reports; kept until it is answered. */
  reportedGrants: Meter['finishedGrants'];
  requestInFlight: boolean;
  /** Number of permits in the permit request under way. */
  requested: number;
  /** Until then no permit is available, so none is requested. */
  deniedUntil: number;
  /** Earliest next permit request after a failed one. */
  requestAfter: number;
  /** Ids of the requests that wait for a permit. */
  waiters: number[];
  arrivals: SlidingCount;
  refusals: SlidingCount;
  /** Admitted requests. */
  uses: SlidingCount;
  /** Requests admitted without a permit. */
  aloneUses: SlidingCount;
  /** When a request was last admitted without a permit. */
  lastAloneUseAt: number;
  /** The last answer of the control plane, and its time. */
  lastAnswer: { at: number; remaining: number; resetAt: number } | undefined;
  lastArrivalAt: number;
  lastSentAt: number;
}

/** The node's permits, and its promise to the control plane to admit nothing without permits. */
export interface PermitState {
  meters: Map<string, Meter>;
  place: Place;
  /** Clock value in the last answer to a promise. */
  clock: string | null;
  /** When that answer came. */
  answeredAt: number | null;
  /** Places that the control plane may assume for this node. Alone, the node uses the smallest share. */
  possiblePlaces: Place[];
  /** Whether the control plane has accepted a promise of this process. */
  hasAcceptedPromise: boolean;
  /** Whether the control plane has ever said to this process that there is room for its share. */
  hasRoom: boolean;
  /** Since when this node has been the only registered one; null if there are others. */
  onlyNodeSince: number | null;
  promiseInFlight: boolean;
  /** Earliest time of the next promise. */
  nextPromiseAt: number;
  /**
   * False after a start, until a promise is accepted, if the last process may have admitted requests without
   * permits.
   */
  knowsAloneUses: boolean;
  /** Whether the mark on disk says that this node admits requests without permits. */
  isMarked: boolean;
  leaving: boolean;
}

export type PermitEvent =
  | { type: 'ARRIVE'; poolId: string; cap: number; waiter: number }
  /** A request has waited too long for a permit. */
  | { type: 'WAIT_TIMED_OUT'; poolId: string; waiter: number }
  /** A request that has a permit asked no upstream. */
  | { type: 'PERMIT_RETURNED'; poolId: string; grantId: string }
  /** The control plane answered a permit request. */
  | { type: 'ANSWERED'; poolId: string; sentAt: number; answer: NodePermitAnswer }
  | { type: 'UNANSWERED'; poolId: string }
  /** The control plane answered a promise. */
  | {
      type: 'PROMISE_ANSWERED';
      sentAt: number;
      place: Place;
      clock: string;
      accepted: boolean;
      hasRoom: boolean;
    }
  | { type: 'PROMISE_UNANSWERED' }
  /** The mark could not be written. */
  | { type: 'MARK_FAILED' }
  | { type: 'TICK'; place: Place };

export type PermitRefusal = 'rate_limited' | 'unavailable';

export type PermitEffect =
  /** `grantId` is null if the request is admitted without a permit. */
  | { type: 'ADMIT'; waiter: number; poolId: string; grantId: string | null }
  | { type: 'REFUSE'; waiter: number; poolId: string; code: PermitRefusal; waitMs: number; spreadMs: number }
  /** Request `want` permits and report finished grants. */
  | { type: 'REQUEST'; poolId: string; want: number; finished: NodePermitUse[] }
  /** Send a promise, or only ask for the clock if `clock` is null. */
  | { type: 'PROMISE'; clock: string | null; place: Place; aloneUses: NodePermitAloneUse[] | null }
  /** Write the mark; it must be durable before the effects after it. */
  | { type: 'MARK'; alone: boolean };

/** One event being handled: the state to change, the time, and the effects so far. */
export interface PermitStep {
  state: PermitState;
  now: number;
  effects: PermitEffect[];
}

const SECOND_MS = 1_000;

/**
 * The state of a node that has just started. `knowsAloneUses`: whether its last process certainly left
 * no unreported requests without permits.
 */
export function newPermitState(startedAt: number, knowsAloneUses: boolean): PermitState {
  return {
    meters: new Map(),
    place: { nodes: 0, index: -1 },
    clock: null,
    answeredAt: null,
    possiblePlaces: [],
    hasAcceptedPromise: false,
    hasRoom: false,
    onlyNodeSince: null,
    promiseInFlight: false,
    nextPromiseAt: startedAt,
    knowsAloneUses,
    isMarked: !knowsAloneUses,
    leaving: false,
  };
}

/** The meter of a pool with its present cap; created on first use. */
export function meterFor(state: PermitState, { poolId, cap }: { poolId: string; cap: number }): Meter {
  const existing = state.meters.get(poolId);
  if (existing) {
    existing.cap = cap;
    return existing;
  }
  const meter: Meter = {
    poolId,
    cap,
    grants: [],
    finishedGrants: [],
    reportedGrants: [],
    requestInFlight: false,
    requested: 0,
    deniedUntil: 0,
    requestAfter: 0,
    waiters: [],
    arrivals: new SlidingCount(SECOND_MS, BUCKET_MS),
    refusals: new SlidingCount(SECOND_MS, BUCKET_MS),
    // The minute before the node became alone is needed for another minute.
    uses: new SlidingCount(2 * WINDOW_MS + PERMIT_TTL_MS, BUCKET_MS),
    aloneUses: new SlidingCount(WINDOW_MS, BUCKET_MS),
    lastAloneUseAt: Number.NEGATIVE_INFINITY,
    lastAnswer: undefined,
    lastArrivalAt: 0,
    lastSentAt: 0,
  };
  state.meters.set(poolId, meter);
  return meter;
}
