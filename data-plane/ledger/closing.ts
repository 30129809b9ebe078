/** How leases end. */
import type { Turn } from './events.ts';
import { isExpired } from './state.ts';
import type { Lease } from './state.ts';

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
 * Gives back what was granted to an old copy of a question that had been answered otherwise: once all that
 * was asked before the recall is answered, the lease is nobody's, and nothing was ever spent of it. A recall
 * comes once, so it must not wait until the node asks nothing at all.
 */
export function closeUngranted({ state, effects }: Turn): void {
  if (state.recalled.size === 0) return;
  // They stand in the order of their numbers.
  const [oldest = Infinity] = state.requests.keys();
  for (const [leaseId, before] of state.recalled) {
    if (oldest < before) continue;
    state.recalled.delete(leaseId);
    effects.push({ type: 'CLOSE', leaseId, count: 0, sum: 0n });
  }
}
