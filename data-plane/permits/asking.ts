/** How a pool's meter hands out permits to those that wait, and asks for more. */
import { FINISHED_MAX, WINDOW_MS } from '@gateway/shared/permits';
import type { NodePermitAnswer, NodePermitUse } from '@gateway/shared/permit-api';
import { hasUsedShare, isAlone, mayAdmitAlone } from './alone.ts';
import type { HeldGrant, Meter, PermitRefusal, PermitTurn } from './state.ts';

/** After a refusal nobody asks for a while: as long as nothing can have come back, within these bounds. */
const DENIED_MS = { least: 200, most: 1_000 };
/** A control plane that gave no answer is asked again after this time, in ms. */
const SILENT_MS = 250;
/** What is over is told at least so often, in ms. */
const TELL_EVERY_MS = 1_000;
/** Fewer requests a second ask one by one. */
const AHEAD_FROM = 2;
/** A control plane that is away may be back in a second. */
const SECOND_MS = 1_000;
/** The most that one request wants. */
const WANT_MAX = 100_000;
/** Clients that were refused come back spread over a time, so that they do not return together, in ms. */
const SPREAD_MS = { least: 500, most: 20_000 };

/** Serves all that wait and can have a permit, or must not wait for one; asks for the others. */
export function serve(turn: PermitTurn, meter: Meter): void {
  while (meter.waiters.length > 0 && admitFirst(turn, meter));
  if (isAlone(turn.state, turn.now))
    refuseAll(turn, meter, hasUsedShare(turn.state, meter, turn.now) ? 'rate_limited' : 'unavailable');
  else if (turn.now < meter.deniedUntil) refuseAll(turn, meter, 'rate_limited');
  ask(turn, meter);
}

function admitFirst(turn: PermitTurn, meter: Meter): boolean {
  const { now, state, effects } = turn;
  const grant = usable(meter, now);
  if (!grant && !mayAdmitAlone(state, meter, now)) return false;
  const waiter = meter.waiters.shift();
  if (waiter === undefined) return false;
  if (grant) {
    grant.left -= 1;
    grant.used += 1;
    grant.lastUseAt = now;
  } else {
    if (!state.marked) effects.push({ type: 'MARK', alone: true });
    state.marked = true;
    meter.usesAlone.add(now);
    meter.lastAloneAt = now;
  }
  meter.uses.add(now);
  effects.push({ type: 'ADMIT', waiter, poolId: meter.poolId, grantId: grant?.id ?? null });
  return true;
}

/** The grant that ends first. */
function usable(meter: Meter, now: number): HeldGrant | undefined {
  return meter.grants
    .filter(({ left, expiresAt }) => left > 0 && expiresAt > now)
    .toSorted((one, other) => one.expiresAt - other.expiresAt)[0];
}

/** Permits that may be used now. */
export function leftIn(meter: Meter, now: number): number {
  return meter.grants.reduce((sum, { left, expiresAt }) => (expiresAt > now ? sum + left : sum), 0);
}

/**
 * Asks for those that wait; ahead of them, for what the last second used, as long as there was enough for
 * all; and from time to time only to account for what is over.
 */
function ask(turn: PermitTurn, meter: Meter): void {
  const { state, now } = turn;
  if (meter.asking || !state.accepted || now < meter.askAfter || isAlone(state, now)) return;
  const want = now < meter.deniedUntil ? 0 : wanted(meter, now);
  const mustTell =
    (meter.over.length > 0 || meter.grants.some((grant) => isOver(grant, now))) &&
    now - meter.lastSentAt >= TELL_EVERY_MS;
  if (want === 0 && !mustTell) return;
  meter.asking = true;
  meter.wanted = want;
  meter.lastSentAt = now;
  retire(meter, now);
  meter.telling = meter.over.splice(0, FINISHED_MAX);
  const finished = meter.telling.map(({ id, used, lastUseAt }): NodePermitUse => ({
    grantId: id,
    used,
    agoMs: Math.floor(Math.min(WINDOW_MS, Math.max(0, now - lastUseAt))),
  }));
  turn.effects.push({ type: 'ASK', poolId: meter.poolId, want, finished });
}

function wanted(meter: Meter, now: number): number {
  const left = leftIn(meter, now);
  const rate = meter.arrivals.count(now);
  const isPlenty = (meter.known?.remaining ?? 0) > rate;
  const ahead = isPlenty && rate >= AHEAD_FROM && left * 2 < rate ? rate - left : 0;
  return Math.min(WANT_MAX, meter.cap, Math.max(meter.waiters.length, ahead));
}

/** Moves grants that are used up or expired to those that the control plane is told of. */
function retire(meter: Meter, now: number): void {
  for (const grant of meter.grants) {
    const { id, used, lastUseAt } = grant;
    if (isOver(grant, now)) meter.over.push({ id, used, lastUseAt });
  }
  meter.grants = meter.grants.filter((grant) => !isOver(grant, now));
}

function isOver({ left, expiresAt }: HeldGrant, now: number): boolean {
  return left === 0 || expiresAt <= now;
}

/** Takes an answer: permits for those that wait, or the refusal of the rest. */
export function onAnswer(turn: PermitTurn, meter: Meter, { sentAt, answer }: Answered): void {
  const { now } = turn;
  const { grantId, granted, ttlMs, resetMs, remaining } = answer;
  meter.asking = false;
  meter.telling = [];
  meter.known = { at: now, remaining, resetAt: now + resetMs };
  // Asked for before the node acted alone, it comes too late: what was admitted since may stand in its place.
  const left = meter.lastAloneAt >= sentAt ? 0 : granted;
  if (grantId !== null)
    meter.grants.push({ id: grantId, left, used: 0, lastUseAt: now, expiresAt: sentAt + ttlMs });
  // Nothing granted although there was something: this node's promise is over, and the next one is under way.
  if (meter.wanted > 0 && granted === 0 && remaining > 0) {
    turn.state.promiseAfter = now;
    meter.askAfter = now + SILENT_MS;
  } else if (granted < meter.wanted)
    meter.deniedUntil = now + Math.min(DENIED_MS.most, Math.max(DENIED_MS.least, resetMs));
  serve(turn, meter);
}

interface Answered {
  sentAt: number;
  answer: NodePermitAnswer;
}

/** No answer: what was told is told again. Those that wait go on waiting for as long as they may. */
export function onSilence({ now }: PermitTurn, meter: Meter): void {
  meter.asking = false;
  meter.over.unshift(...meter.telling);
  meter.telling = [];
  meter.askAfter = now + SILENT_MS;
}

/** Refuses all that wait. */
export function refuseAll(turn: PermitTurn, meter: Meter, code: PermitRefusal): void {
  for (const waiter of meter.waiters.splice(0)) refuse(turn, meter, { waiter, code });
}

/** Refuses one that waits, and says when a permit may be there, and over what time such clients spread. */
export function refuse(
  turn: PermitTurn,
  meter: Meter,
  { waiter, code }: { waiter: number; code: PermitRefusal },
): void {
  const { now, effects } = turn;
  meter.refusals.add(now);
  const perPermitMs = WINDOW_MS / Math.max(1, meter.cap);
  const spreadMs = Math.min(
    SPREAD_MS.most,
    Math.max(SPREAD_MS.least, meter.refusals.count(now) * perPermitMs),
  );
  const waitMs =
    code === 'unavailable' ? SECOND_MS : Math.max(perPermitMs, (meter.known?.resetAt ?? 0) - now);
  effects.push({ type: 'REFUSE', waiter, poolId: meter.poolId, code, waitMs, spreadMs });
}
