/** What a node knows about the permits of its pools, and the events and effects that move it. */
import { BUCKET_MS, PERMIT_TTL_MS, WINDOW_MS } from '@gateway/shared/permits';
import type { Place } from '@gateway/shared/permits';
import type { NodePermitAloneUse, NodePermitAnswer, NodePermitUse } from '@gateway/shared/permit-api';
import { SlidingCount } from './window.ts';

/** Permits that may be used until `expiresAt`. Times are ms of the node's monotonic clock. */
export interface HeldGrant {
  id: string;
  left: number;
  used: number;
  lastUseAt: number;
  expiresAt: number;
}

/** One pool on this node. */
export interface Meter {
  poolId: string;
  cap: number;
  grants: HeldGrant[];
  /** Grants that are over and were not told to the control plane yet. */
  over: { id: string; used: number; lastUseAt: number }[];
  /** What the request under way tells; it stays until that is answered. */
  telling: Meter['over'];
  asking: boolean;
  /** What the request under way wants. */
  wanted: number;
  /** Before that no permit can be had, and nobody asks. */
  deniedUntil: number;
  /** Before that the control plane is not asked again, because it did not answer well. */
  askAfter: number;
  waiters: number[];
  arrivals: SlidingCount;
  refusals: SlidingCount;
  uses: SlidingCount;
  usesAlone: SlidingCount;
  /** When a request was last admitted without a permit. */
  lastAloneAt: number;
  /** What the last answer said, and when it came. */
  known: { at: number; remaining: number; resetAt: number } | undefined;
  lastArrivalAt: number;
  lastSentAt: number;
}

/** The node's standing with the control plane. */
export interface PermitState {
  meters: Map<string, Meter>;
  place: Place;
  /** The clock of the last answer, and when that came. */
  clock: string | null;
  answeredAt: number | null;
  /** Places that the control plane may know, by which this node may act alone: the least share counts. */
  places: Place[];
  /** Whether the control plane accepted a promise of this process. */
  accepted: boolean;
  /** Whether it ever said to this process that there is room for its share. */
  hasRoom: boolean;
  /** Since when this node is the only one, as far as it knows. */
  onlySince: number | null;
  promising: boolean;
  promiseAfter: number;
  /** False from the start until a promise was accepted, where the last process may have acted alone. */
  remembers: boolean;
  /** Whether the disk says that this node acts alone. */
  marked: boolean;
  leaving: boolean;
}

export type PermitEvent =
  | { type: 'ARRIVE'; poolId: string; cap: number; waiter: number }
  | { type: 'GIVE_UP'; poolId: string; waiter: number }
  | { type: 'GIVE_BACK'; poolId: string; grantId: string }
  | { type: 'ANSWERED'; poolId: string; sentAt: number; answer: NodePermitAnswer }
  | { type: 'UNANSWERED'; poolId: string }
  | { type: 'PROMISED'; sentAt: number; place: Place; clock: string; accepted: boolean; hasRoom: boolean }
  | { type: 'UNPROMISED' }
  | { type: 'UNMARKED' }
  | { type: 'TICK'; place: Place };

export type PermitRefusal = 'rate_limited' | 'unavailable';

export type PermitEffect =
  /** `grantId` is null where the node acts alone. */
  | { type: 'ADMIT'; waiter: number; poolId: string; grantId: string | null }
  | { type: 'REFUSE'; waiter: number; poolId: string; code: PermitRefusal; waitMs: number; spreadMs: number }
  | { type: 'ASK'; poolId: string; want: number; finished: NodePermitUse[] }
  | { type: 'PROMISE'; heard: string | null; place: Place; alone: NodePermitAloneUse[] | null }
  /** Durable before what follows it. */
  | { type: 'MARK'; alone: boolean };

/** One event being handled. */
export interface PermitTurn {
  state: PermitState;
  now: number;
  effects: PermitEffect[];
}

const SECOND_MS = 1_000;

/** The state of a node that just started. `remembers`: it is known that it did not act alone before. */
export function newPermitState(startedAt: number, remembers: boolean): PermitState {
  return {
    meters: new Map(),
    place: { nodes: 0, index: -1 },
    clock: null,
    answeredAt: null,
    places: [],
    accepted: false,
    hasRoom: false,
    onlySince: null,
    promising: false,
    promiseAfter: startedAt,
    remembers,
    marked: !remembers,
    leaving: false,
  };
}

/** The pool's meter, with the cap as it is now. */
export function meterFor(state: PermitState, { poolId, cap }: { poolId: string; cap: number }): Meter {
  const known = state.meters.get(poolId);
  if (known) {
    known.cap = cap;
    return known;
  }
  const meter: Meter = {
    poolId,
    cap,
    grants: [],
    over: [],
    telling: [],
    asking: false,
    wanted: 0,
    deniedUntil: 0,
    askAfter: 0,
    waiters: [],
    arrivals: new SlidingCount(SECOND_MS, BUCKET_MS),
    refusals: new SlidingCount(SECOND_MS, BUCKET_MS),
    // The minute before the node began to act alone is looked at for another minute.
    uses: new SlidingCount(2 * WINDOW_MS + PERMIT_TTL_MS, BUCKET_MS),
    usesAlone: new SlidingCount(WINDOW_MS, BUCKET_MS),
    lastAloneAt: Number.NEGATIVE_INFINITY,
    known: undefined,
    lastArrivalAt: 0,
    lastSentAt: 0,
  };
  state.meters.set(poolId, meter);
  return meter;
}
