/** How leases end. */
import { growing } from './events.ts';
import type { Turn } from './events.ts';
import { isExpired } from './state.ts';
import type { Lease } from './state.ts';

const CLOSE_AGAIN_MS = { first: 200, most: 60_000 };
const RECALLED_MAX = 1_000;

/** Nothing new is held from the lease; it closes when it can. */
export function drain(turn: Turn, lease: Lease | undefined): void {
  if (!lease) return;
  lease.draining = true;
  closeIfDone(turn, lease);
}

/** Notes that the control plane may have taken the lease back. */
export function expireIfDue(turn: Turn, lease: Lease): void {
  if (lease.expired || !isExpired(lease, turn.now)) return;
  lease.expired = true;
  lease.draining = true;
}

/** Closes a lease that nothing more comes from: used up or draining, without holds, every charge settled. */
export function closeIfDone(turn: Turn, lease: Lease): void {
  if (lease.closing || lease.holds > 0 || (!lease.draining && lease.remaining > 0n)) return;
  lease.draining = true;
  if (lease.settled < lease.count) {
    turn.effects.push({ type: 'SETTLE' });
    return;
  }
  if (turn.now.mono < lease.closeAfter) return;
  lease.closing = true;
  turn.effects.push({ type: 'CLOSE', leaseId: lease.id, count: lease.count, sum: lease.sum });
}

/**
 * Notes that the control plane wants back a lease that is not known here. It tells so again, so that one
 * which is forgotten here is not lost.
 */
export function noteUnknown({ state }: Turn, leaseId: string): void {
  const { recalled, nextRequestNo: before } = state;
  if (recalled.has(leaseId)) return;
  recalled.set(leaseId, { before, closing: false, closeAttempts: 0, closeAfter: 0 });
  const [oldest] = recalled.keys();
  if (recalled.size > RECALLED_MAX && oldest !== undefined) recalled.delete(oldest);
}

/**
 * Gives back leases that turned out to be nobody's: once all that was asked before the recall is answered,
 * the grant is not to come any more, and nothing was ever spent of it. Again and again, until they are
 * closed.
 */
export function closeUnknown({ state, now, effects }: Turn): void {
  // They stand in the order of their numbers.
  const [oldest = Infinity] = state.requests.keys();
  for (const [leaseId, unknown] of state.recalled) {
    if (oldest < unknown.before || unknown.closing || now.mono < unknown.closeAfter) continue;
    unknown.closing = true;
    effects.push({ type: 'CLOSE', leaseId, count: 0, sum: 0n });
  }
}

/** The order to close a lease failed, or was not answered: the next one comes later, and ever later. */
export function closeLater({ state, now }: Turn, leaseId: string): void {
  const lease = state.leases.get(leaseId) ?? state.recalled.get(leaseId);
  if (!lease) return;
  lease.closing = false;
  lease.closeAfter = now.mono + growing(CLOSE_AGAIN_MS, lease.closeAttempts);
  lease.closeAttempts += 1;
}
