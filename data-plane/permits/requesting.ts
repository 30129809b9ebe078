/**
 * Rules of one pool on a node: gives permits to waiting client requests, and requests more from the control
 * plane.
 */
import { FINISHED_MAX, WINDOW_MS } from '@gateway/shared/permits';
import type { NodePermitAnswer, NodePermitUse } from '@gateway/shared/permit-api';
import { hasUsedShare, isAlone, mayAdmitAlone } from './alone.ts';
import type { HeldGrant, Meter, PermitRefusal, PermitStep } from './state.ts';

/** After a refusal no permit is requested until one can be free again, within these bounds in ms. */
const DENIED_MS = { least: 200, most: 1_000 };
/** Back-off after a permit request without a usable answer, in ms. */
const RETRY_MS = 250;
/** Finished grants are reported at least this often, in ms. */
const REPORT_EVERY_MS = 1_000;
/** Minimum number of arrivals per second at which permits are requested ahead. */
const AHEAD_FROM = 2;
/** Retry time for clients while the control plane is away, in ms. */
const UNAVAILABLE_WAIT_MS = 1_000;
/** Maximum number of permits in one request. */
const WANT_MAX = 100_000;
/**
 * Retries of refused clients are spread over a time within these bounds, in ms, so that they do not
 * coincide.
 */
const SPREAD_MS = { least: 500, most: 20_000 };

/** Admits the waiting requests that can have a permit, refuses those that must not wait, requests permits. */
export function serveWaiters(step: PermitStep, meter: Meter): void {
  while (meter.waiters.length > 0 && admitFirst(step, meter));
  if (isAlone(step.state, step.now))
    refuseWaiters(step, meter, hasUsedShare(step.state, meter, step.now) ? 'rate_limited' : 'unavailable');
  else if (step.now < meter.deniedUntil) refuseWaiters(step, meter, 'rate_limited');
  requestPermits(step, meter);
}

function admitFirst(step: PermitStep, meter: Meter): boolean {
  const { now, state, effects } = step;
  const grant = firstUsableGrant(meter, now);
  if (!grant && !mayAdmitAlone(state, meter, now)) return false;
  const waiter = meter.waiters.shift();
  if (waiter === undefined) return false;
  if (grant) {
    grant.left -= 1;
    grant.used += 1;
    grant.lastUseAt = now;
  } else {
    if (!state.isMarked) effects.push({ type: 'MARK', alone: true });
    state.isMarked = true;
    meter.aloneUses.add(now);
    meter.lastAloneUseAt = now;
  }
  meter.uses.add(now);
  effects.push({ type: 'ADMIT', waiter, poolId: meter.poolId, grantId: grant?.id ?? null });
  return true;
}

/** The usable grant that expires first. */
function firstUsableGrant(meter: Meter, now: number): HeldGrant | undefined {
  return meter.grants
    .filter(({ left, expiresAt }) => left > 0 && expiresAt > now)
    .toSorted((one, other) => one.expiresAt - other.expiresAt)[0];
}

/** Number of permits that can be used now. */
export function permitsLeft(meter: Meter, now: number): number {
  return meter.grants.reduce((sum, { left, expiresAt }) => (expiresAt > now ? sum + left : sum), 0);
}

/** Sends a permit request if permits are missing or finished grants must be reported. */
function requestPermits(step: PermitStep, meter: Meter): void {
  const { state, now } = step;
  if (meter.requestInFlight || !state.hasAcceptedPromise || now < meter.requestAfter || isAlone(state, now))
    return;
  const want = now < meter.deniedUntil ? 0 : permitsWanted(meter, now);
  const isReportDue =
    (meter.finishedGrants.length > 0 || meter.grants.some((grant) => isFinished(grant, now))) &&
    now - meter.lastSentAt >= REPORT_EVERY_MS;
  if (want === 0 && !isReportDue) return;
  meter.requestInFlight = true;
  meter.requested = want;
  meter.lastSentAt = now;
  collectFinished(meter, now);
  meter.reportedGrants = meter.finishedGrants.splice(0, FINISHED_MAX);
  const finished = meter.reportedGrants.map(({ id, used, lastUseAt }): NodePermitUse => ({
    grantId: id,
    used,
    agoMs: Math.floor(Math.min(WINDOW_MS, Math.max(0, now - lastUseAt))),
  }));
  step.effects.push({ type: 'REQUEST', poolId: meter.poolId, want, finished });
}

/**
 * Number of permits to request: one per waiting request. If the pool has plenty left, also enough for the
 * requests of about the next second.
 */
function permitsWanted(meter: Meter, now: number): number {
  const left = permitsLeft(meter, now);
  const rate = meter.arrivals.count(now);
  const isPlenty = (meter.lastAnswer?.remaining ?? 0) > rate;
  const ahead = isPlenty && rate >= AHEAD_FROM && left * 2 < rate ? rate - left : 0;
  return Math.min(WANT_MAX, meter.cap, Math.max(meter.waiters.length, ahead));
}

/** Moves used up and expired grants to those that must be reported. */
function collectFinished(meter: Meter, now: number): void {
  for (const grant of meter.grants) {
    const { id, used, lastUseAt } = grant;
    if (isFinished(grant, now)) meter.finishedGrants.push({ id, used, lastUseAt });
  }
  meter.grants = meter.grants.filter((grant) => !isFinished(grant, now));
}

function isFinished({ left, expiresAt }: HeldGrant, now: number): boolean {
  return left === 0 || expiresAt <= now;
}

/** Handles an answer to a permit request: admits waiting requests, or refuses the rest. */
export function applyAnswer(step: PermitStep, meter: Meter, { sentAt, answer }: Answered): void {
  const { now } = step;
  const { grantId, granted, ttlMs, resetMs, remaining } = answer;
  meter.requestInFlight = false;
  meter.reportedGrants = [];
  meter.lastAnswer = { at: now, remaining, resetAt: now + resetMs };
  // Permits requested before the node admitted a request without one come too late: that request took their
  // place.
  const left = meter.lastAloneUseAt >= sentAt ? 0 : granted;
  if (grantId !== null)
    meter.grants.push({ id: grantId, left, used: 0, lastUseAt: now, expiresAt: sentAt + ttlMs });
  // Permits were free and none was granted: the control plane has no valid promise of this node, so send one.
  if (meter.requested > 0 && granted === 0 && remaining > 0) {
    step.state.nextPromiseAt = now;
    meter.requestAfter = now + RETRY_MS;
  } else if (granted < meter.requested)
    meter.deniedUntil = now + Math.min(DENIED_MS.most, Math.max(DENIED_MS.least, resetMs));
  serveWaiters(step, meter);
}

interface Answered {
  sentAt: number;
  answer: NodePermitAnswer;
}

/**
 * Handles a permit request without an answer: the next one reports its grants again, and waiting requests
 * keep waiting.
 */
export function repeatReports({ now }: PermitStep, meter: Meter): void {
  meter.requestInFlight = false;
  meter.finishedGrants.unshift(...meter.reportedGrants);
  meter.reportedGrants = [];
  meter.requestAfter = now + RETRY_MS;
}

function refuseWaiters(step: PermitStep, meter: Meter, code: PermitRefusal): void {
  for (const waiter of meter.waiters.splice(0)) refuse(step, meter, { waiter, code });
}

/**
 * Refuses a waiting request, with the time until a permit may be free and the time to spread retries over.
 */
export function refuse(
  step: PermitStep,
  meter: Meter,
  { waiter, code }: { waiter: number; code: PermitRefusal },
): void {
  const { now, effects } = step;
  meter.refusals.add(now);
  const perPermitMs = WINDOW_MS / Math.max(1, meter.cap);
  const spreadMs = Math.min(
    SPREAD_MS.most,
    Math.max(SPREAD_MS.least, meter.refusals.count(now) * perPermitMs),
  );
  const waitMs =
    code === 'unavailable'
      ? UNAVAILABLE_WAIT_MS
      : Math.max(perPermitMs, (meter.lastAnswer?.resetAt ?? 0) - now);
  effects.push({ type: 'REFUSE', waiter, poolId: meter.poolId, code, waitMs, spreadMs });
}
