/**
 * The node's permit rules, as a reducer: (state, event, now) → effects. It changes the state in place, and
 * uses no clock, network or randomness. A node that is alone admits requests without permits.
 */
import { ALONE_USES_MAX } from '@gateway/shared/permits';
import type { Place } from '@gateway/shared/permits';
import type { NodePermitAloneUse } from '@gateway/shared/permit-api';
import { isAlone } from './alone.ts';
import { applyAnswer, refuse, repeatReports, serveWaiters } from './requesting.ts';
import { meterFor } from './state.ts';
import type { PermitEffect, PermitEvent, PermitState, PermitStep } from './state.ts';

/** Time between promises, in ms. */
const PROMISE_EVERY_MS = 1_000;
/** Back-off after a promise without an answer, in ms. */
const PROMISE_RETRY_MS = 300;
/** Requests admitted without permits are reported as one number per time of this length, in ms. */
const ALONE_BUCKET_MS = 2_000;
/** A meter is removed after this time without requests, in ms. All its counters have shorter windows. */
const IDLE_MS = 10 * 60 * 1_000;

type Handlers = {
  [Type in PermitEvent['type']]: (step: PermitStep, event: Extract<PermitEvent, { type: Type }>) => void;
};

/** Handles one event: changes the state in place and returns the effects, in order. Never throws. */
export function applyEvent(state: PermitState, event: PermitEvent, now: number): PermitEffect[] {
  const step: PermitStep = { state, now, effects: [] };
  const handle = HANDLERS[event.type] as (step: PermitStep, event: PermitEvent) => void;
  handle(step, event);
  return step.effects;
}

function onArrive(step: PermitStep, event: Extract<PermitEvent, { type: 'ARRIVE' }>): void {
  const meter = meterFor(step.state, event);
  meter.lastArrivalAt = step.now;
  meter.arrivals.add(step.now);
  meter.waiters.push(event.waiter);
  serveWaiters(step, meter);
}

function onWaitTimedOut(step: PermitStep, { poolId, waiter }: { poolId: string; waiter: number }): void {
  const meter = step.state.meters.get(poolId);
  if (!meter?.waiters.includes(waiter)) return;
  meter.waiters = meter.waiters.filter((each) => each !== waiter);
  refuse(step, meter, { waiter, code: 'unavailable' });
}

/**
 * Returns the permit of a request that asked no upstream to its grant. If the grant is no longer held, the
 * permit counts as used.
 */
function onPermitReturned(step: PermitStep, { poolId, grantId }: { poolId: string; grantId: string }): void {
  const meter = step.state.meters.get(poolId);
  const grant = meter?.grants.find(({ id }) => id === grantId);
  if (!meter || !grant || grant.used === 0) return;
  grant.used -= 1;
  grant.left += 1;
  serveWaiters(step, meter);
}

function onAnswered(step: PermitStep, event: Extract<PermitEvent, { type: 'ANSWERED' }>): void {
  const meter = step.state.meters.get(event.poolId);
  if (!meter) return;
  applyAnswer(step, meter, event);
  sendPromiseIfDue(step);
}

function onUnanswered(step: PermitStep, { poolId }: { poolId: string }): void {
  const meter = step.state.meters.get(poolId);
  if (!meter) return;
  repeatReports(step, meter);
  serveWaiters(step, meter);
}

function onPromiseAnswered(
  step: PermitStep,
  event: Extract<PermitEvent, { type: 'PROMISE_ANSWERED' }>,
): void {
  const { state, now } = step;
  state.promiseInFlight = false;
  state.clock = event.clock;
  state.answeredAt = now;
  state.nextPromiseAt = event.accepted ? now + PROMISE_EVERY_MS : now;
  if (event.accepted) {
    state.hasAcceptedPromise = true;
    state.knowsAloneUses = true;
    adoptPlace(state, event, now);
    forgetReportedUses(step, event.sentAt);
    for (const meter of state.meters.values()) serveWaiters(step, meter);
  } else sendPromiseIfDue(step);
}

/**
 * If the control plane has room for the share of the promised place, that place is the only possible one.
 * Otherwise all earlier places remain possible, and the node uses the smallest share of them.
 */
function adoptPlace(
  state: PermitState,
  { place, hasRoom }: { place: Place; hasRoom: boolean },
  now: number,
): void {
  if (hasRoom) {
    state.hasRoom = true;
    state.possiblePlaces = [place];
  }
  state.onlyNodeSince = hasRoom && place.nodes === 1 ? (state.onlyNodeSince ?? now) : null;
}

/**
 * Forgets the requests without permits that an accepted promise reported. If none is left, clears the mark on
 * disk.
 */
function forgetReportedUses({ state, now, effects }: PermitStep, reportedUntil: number): void {
  let isQuiet = true;
  for (const { aloneUses } of state.meters.values()) {
    aloneUses.forget(reportedUntil);
    isQuiet &&= aloneUses.count(now) === 0;
  }
  if (!state.isMarked || !isQuiet) return;
  state.isMarked = false;
  effects.push({ type: 'MARK', alone: false });
}

function onPromiseUnanswered({ state, now }: PermitStep): void {
  state.promiseInFlight = false;
  state.nextPromiseAt = now + PROMISE_RETRY_MS;
}

function onTick(step: PermitStep, { place }: { place: PermitState['place'] }): void {
  const { state, now } = step;
  state.place = place;
  sendPromiseIfDue(step);
  for (const meter of state.meters.values()) {
    serveWaiters(step, meter);
    if (now - meter.lastArrivalAt > IDLE_MS) state.meters.delete(meter.poolId);
  }
}

/**
 * Sends a promise if one is due: the node admits nothing without permits for a fixed time after the last
 * answer of the control plane, which `clock` identifies. A node that is alone cannot promise that: its
 * message has no clock, only asks for the present one, and is never accepted.
 */
function sendPromiseIfDue(step: PermitStep): void {
  const { state, now, effects } = step;
  if (state.promiseInFlight || now < state.nextPromiseAt || state.leaving) return;
  const clock = isAlone(state, now) ? null : state.clock;
  const { place } = state;
  if (clock !== null && !isSame(state.possiblePlaces.at(-1), place)) state.possiblePlaces.push(place);
  if (place.nodes !== 1) state.onlyNodeSince = null;
  state.promiseInFlight = true;
  effects.push({
    type: 'PROMISE',
    clock,
    place,
    // Only an accepted promise may report: the node then forgets the reported requests.
    aloneUses: clock === null ? [] : recentAloneUses(state, now),
  });
}

function isSame(one: Place | undefined, other: Place): boolean {
  return one?.nodes === other.nodes && one.index === other.index;
}

/**
 * Requests admitted without permits in the last minute, as promises report them; null if they are unknown or
 * more than ALONE_USES_MAX numbers.
 */
export function recentAloneUses(state: PermitState, now: number): NodePermitAloneUse[] | null {
  if (!state.knowsAloneUses) return null;
  const uses = [...state.meters.values()].flatMap(({ poolId, aloneUses }) =>
    aloneUses.ages(now, ALONE_BUCKET_MS).map(({ count, agoMs }) => ({ poolId, used: count, agoMs })),
  );
  return uses.length > ALONE_USES_MAX ? null : uses;
}

const HANDLERS: Handlers = {
  ARRIVE: onArrive,
  WAIT_TIMED_OUT: onWaitTimedOut,
  PERMIT_RETURNED: onPermitReturned,
  ANSWERED: onAnswered,
  UNANSWERED: onUnanswered,
  PROMISE_ANSWERED: onPromiseAnswered,
  PROMISE_UNANSWERED: onPromiseUnanswered,
  // The next admission without a permit writes the mark again.
  MARK_FAILED: ({ state }) => {
    state.isMarked = false;
  },
  TICK: onTick,
};
