/** Rules for returning leases to the control plane. */
import { backoffMs } from './events.ts';
import type { Step } from './events.ts';
import { isExpired } from './state.ts';
import type { Lease } from './state.ts';

const CLOSE_RETRY_MS = { first: 200, most: 60_000 };
const UNKNOWN_RECALLS_MAX = 1_000;

/** Stops new holds on the lease, and closes the lease as soon as possible. */
export function drainLease(step: Step, lease: Lease | undefined): void {
  if (!lease) return;
  lease.draining = true;
  closeIfDone(step, lease);
}

/** Marks the lease as expired if the control plane may have reclaimed it by now. */
export function expireIfDue(step: Step, lease: Lease): void {
  if (lease.expired || !isExpired(lease, step.now)) return;
  lease.expired = true;
  lease.draining = true;
}

/** Closes a lease that is used up or draining, once it has no holds and all its charges are settled. */
export function closeIfDone(step: Step, lease: Lease): void {
  if (lease.closeInFlight || lease.holds > 0 || (!lease.draining && lease.remaining > 0n)) return;
  lease.draining = true;
  if (lease.settled < lease.count) {
    step.effects.push({ type: 'SETTLE' });
    return;
  }
  if (step.now.mono < lease.closeAfter) return;
  lease.closeInFlight = true;
  step.effects.push({ type: 'CLOSE', leaseId: lease.id, count: lease.count, sum: lease.sum });
}

/**
 * Remembers the recall of a lease that this node does not know. The oldest one is forgotten beyond the limit;
 * the control plane repeats recalls, so nothing is lost.
 */
export function recordUnknownRecall({ state }: Step, leaseId: string): void {
  const { unknownRecalls, nextRequestNo: firstLaterRequestNo } = state;
  if (unknownRecalls.has(leaseId)) return;
  unknownRecalls.set(leaseId, { firstLaterRequestNo, closeInFlight: false, closeAttempts: 0, closeAfter: 0 });
  const [oldest] = unknownRecalls.keys();
  if (unknownRecalls.size > UNKNOWN_RECALLS_MAX && oldest !== undefined) unknownRecalls.delete(oldest);
}

/**
 * Returns unknown leases unused: once all requests from before the recall are answered, no grant of the lease
 * can arrive any more. Repeats this until each of them is closed.
 */
export function closeUnknownLeases({ state, now, effects }: Step): void {
  // The map is in the order of request numbers.
  const [oldestRequestNo = Infinity] = state.requests.keys();
  for (const [leaseId, recall] of state.unknownRecalls) {
    if (oldestRequestNo < recall.firstLaterRequestNo) continue;
    if (recall.closeInFlight || now.mono < recall.closeAfter) continue;
    recall.closeInFlight = true;
    effects.push({ type: 'CLOSE', leaseId, count: 0, sum: 0n });
  }
}

/** Schedules the next close attempt of a lease whose close message failed, with exponential back-off. */
export function retryCloseLater({ state, now }: Step, leaseId: string): void {
  const lease = state.leases.get(leaseId) ?? state.unknownRecalls.get(leaseId);
  if (!lease) return;
  lease.closeInFlight = false;
  lease.closeAfter = now.mono + backoffMs(CLOSE_RETRY_MS, lease.closeAttempts);
  lease.closeAttempts += 1;
}
