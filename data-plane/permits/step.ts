/**
 * The node's rules for permits: (state, event, now) → effects. No clock, no network, no chance; the state is
 * changed in place and nothing else is.
 */
import { ALONE_USES_MAX } from '@gateway/shared/permits';
import type { Place } from '@gateway/shared/permits';
import type { NodePermitAloneUse } from '@gateway/shared/permit-api';
import { isAlone } from './alone.ts';
import { onAnswer, onSilence, refuse, serve } from './asking.ts';
import { meterFor } from './state.ts';
import type { PermitEffect, PermitEvent, PermitState, PermitTurn } from './state.ts';

/** A promise follows the last one after this time, or sooner where that had no answer, in ms. */
const PROMISE_EVERY_MS = 1_000;
const PROMISE_AGAIN_MS = 300;
/** Uses without permits are told in spans of this length, in ms. */
const ALONE_SPAN_MS = 2_000;
/** A pool that nobody asked for so long is forgotten, in ms; longer than anything of it counts. */
const IDLE_MS = 10 * 60 * 1_000;

type Handlers = {
  [Type in PermitEvent['type']]: (turn: PermitTurn, event: Extract<PermitEvent, { type: Type }>) => void;
};

/** Handles one event: changes the state in place and returns what is to be done, in order. Never throws. */
export function step(state: PermitState, event: PermitEvent, now: number): PermitEffect[] {
  const turn: PermitTurn = { state, now, effects: [] };
  const handle = HANDLERS[event.type] as (turn: PermitTurn, event: PermitEvent) => void;
  handle(turn, event);
  return turn.effects;
}

function onArrive(turn: PermitTurn, event: Extract<PermitEvent, { type: 'ARRIVE' }>): void {
  const meter = meterFor(turn.state, event);
  meter.lastArrivalAt = turn.now;
  meter.arrivals.add(turn.now);
  meter.waiters.push(event.waiter);
  serve(turn, meter);
}

function onGiveUp(turn: PermitTurn, { poolId, waiter }: { poolId: string; waiter: number }): void {
  const meter = turn.state.meters.get(poolId);
  if (!meter?.waiters.includes(waiter)) return;
  meter.waiters = meter.waiters.filter((each) => each !== waiter);
  refuse(turn, meter, { waiter, code: 'unavailable' });
}

/** A request that was admitted and went no further. Where its grant is over already, it counts. */
function onGiveBack(turn: PermitTurn, { poolId, grantId }: { poolId: string; grantId: string }): void {
  const meter = turn.state.meters.get(poolId);
  const grant = meter?.grants.find(({ id }) => id === grantId);
  if (!meter || !grant || grant.used === 0) return;
  grant.used -= 1;
  grant.left += 1;
  serve(turn, meter);
}

function onAnswered(turn: PermitTurn, event: Extract<PermitEvent, { type: 'ANSWERED' }>): void {
  const meter = turn.state.meters.get(event.poolId);
  if (!meter) return;
  onAnswer(turn, meter, event);
  promise(turn);
}

function onUnanswered(turn: PermitTurn, { poolId }: { poolId: string }): void {
  const meter = turn.state.meters.get(poolId);
  if (!meter) return;
  onSilence(turn, meter);
  serve(turn, meter);
}

function onPromised(turn: PermitTurn, event: Extract<PermitEvent, { type: 'PROMISED' }>): void {
  const { state, now } = turn;
  state.promising = false;
  state.clock = event.clock;
  state.answeredAt = now;
  state.promiseAfter = event.accepted ? now + PROMISE_EVERY_MS : now;
  if (event.accepted) {
    state.accepted = true;
    state.remembers = true;
    takePlace(state, event, now);
    unmark(turn, event.sentAt);
    for (const meter of state.meters.values()) serve(turn, meter);
  } else promise(turn);
}

/** Where there is no room for the place yet, the least share of all that may be known counts as before. */
function takePlace(
  state: PermitState,
  { place, hasRoom }: { place: Place; hasRoom: boolean },
  now: number,
): void {
  if (hasRoom) {
    state.hasRoom = true;
    state.places = [place];
  }
  state.onlySince = hasRoom && place.nodes === 1 ? (state.onlySince ?? now) : null;
}

/** What was told is told once. */
function unmark({ state, now, effects }: PermitTurn, toldUntil: number): void {
  let isQuiet = true;
  for (const { usesAlone } of state.meters.values()) {
    usesAlone.forget(toldUntil);
    isQuiet &&= usesAlone.count(now) === 0;
  }
  if (!state.marked || !isQuiet) return;
  state.marked = false;
  effects.push({ type: 'MARK', alone: false });
}

function onUnpromised({ state, now }: PermitTurn): void {
  state.promising = false;
  state.promiseAfter = now + PROMISE_AGAIN_MS;
}

function onTick(turn: PermitTurn, { place }: { place: PermitState['place'] }): void {
  const { state, now } = turn;
  state.place = place;
  promise(turn);
  for (const meter of state.meters.values()) {
    serve(turn, meter);
    if (now - meter.lastArrivalAt > IDLE_MS) state.meters.delete(meter.poolId);
  }
}

/**
 * Promises to admit nothing alone, after the last answer that came; where the node acts alone now, it only
 * asks for the clock first. Whoever promised keeps to it for as long as the answer that is given back holds.
 */
function promise(turn: PermitTurn): void {
  const { state, now, effects } = turn;
  if (state.promising || now < state.promiseAfter || state.leaving) return;
  const heard = isAlone(state, now) ? null : state.clock;
  const { place } = state;
  if (heard !== null && !isSame(state.places.at(-1), place)) state.places.push(place);
  if (place.nodes !== 1) state.onlySince = null;
  state.promising = true;
  effects.push({ type: 'PROMISE', heard, place, alone: heard === null ? [] : aloneUses(state, now) });
}

function isSame(one: Place | undefined, other: Place): boolean {
  return one?.nodes === other.nodes && one.index === other.index;
}

/** What was admitted without permits in the last minute, as promises tell it; null where nobody knows. */
export function aloneUses(state: PermitState, now: number): NodePermitAloneUse[] | null {
  if (!state.remembers) return null;
  const uses = [...state.meters.values()].flatMap(({ poolId, usesAlone }) =>
    usesAlone.ages(now, ALONE_SPAN_MS).map(({ count, agoMs }) => ({ poolId, used: count, agoMs })),
  );
  return uses.length > ALONE_USES_MAX ? null : uses;
}

const HANDLERS: Handlers = {
  ARRIVE: onArrive,
  GIVE_UP: onGiveUp,
  GIVE_BACK: onGiveBack,
  ANSWERED: onAnswered,
  UNANSWERED: onUnanswered,
  PROMISED: onPromised,
  UNPROMISED: onUnpromised,
  UNMARKED: ({ state }) => {
    state.marked = false;
  },
  TICK: onTick,
};
