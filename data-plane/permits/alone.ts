/**
 * Limits the requests of a node that is alone, that is, cannot reach the control plane. All nodes together
 * must stay within the cap: each uses only its share. In the first minute a node also admits no more than it
 * used in the minute before, because it does not know what other nodes used then.
 */
import { ALONE_MAX_MS, PERMIT_TTL_MS, PROMISE_MS, WINDOW_MS, shareOf } from '@gateway/shared/permits';
import type { Meter, PermitState } from './state.ts';

/** When the node becomes alone if it gets no further answer; undefined if it may never admit alone. */
function aloneFrom({ hasRoom, answeredAt }: PermitState): number | undefined {
  return hasRoom && answeredAt !== null ? answeredAt + PROMISE_MS : undefined;
}

/** Whether the node is alone: its last promise is over, and it may admit requests without permits. */
export function isAlone(state: PermitState, now: number): boolean {
  const from = aloneFrom(state);
  return from !== undefined && now >= from && now < from - PROMISE_MS + ALONE_MAX_MS && !state.leaving;
}

/** Whether the pool may admit one more request now without a permit. */
export function mayAdmitAlone(state: PermitState, meter: Meter, now: number): boolean {
  const from = aloneFrom(state);
  if (from === undefined || !isAlone(state, now)) return false;
  return meter.uses.count(now, WINDOW_MS) < aloneLimit(state, meter, { from, now });
}

/** Whether the pool has used its whole share. If not, requests are refused only for lack of knowledge. */
export function hasUsedShare(state: PermitState, meter: Meter, now: number): boolean {
  return meter.uses.count(now, WINDOW_MS) >= smallestShare(state, meter);
}

function smallestShare({ possiblePlaces }: PermitState, { cap }: Meter): number {
  return Math.min(...possiblePlaces.map((place) => shareOf(cap, place)));
}

function aloneLimit(state: PermitState, meter: Meter, { from, now }: { from: number; now: number }): number {
  const share = smallestShare(state, meter);
  // A node that has been the only one for a minute knows all uses of that minute.
  const knowsAllUses = state.onlyNodeSince !== null && now - state.onlyNodeSince >= WINDOW_MS;
  // Permits that other nodes got while the promise held may be used a little later.
  if (now >= from + PERMIT_TTL_MS + WINDOW_MS || knowsAllUses) return share;
  return Math.min(share, meter.uses.between(from - WINDOW_MS, from));
}
