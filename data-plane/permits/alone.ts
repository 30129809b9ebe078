/**
 * What a node may admit while it does not hear the control plane. Never more than the cap over all nodes: its
 * own share of it, and in the first minute no more than it used in the minute before, because what others
 * used then is not known here.
 */
import { ALONE_MAX_MS, PERMIT_TTL_MS, PROMISE_MS, WINDOW_MS, shareOf } from '@gateway/shared/permits';
import type { Meter, PermitState } from './state.ts';

/** When the node begins to act alone; undefined where it may not at all. */
function aloneFrom({ hasRoom, answeredAt }: PermitState): number | undefined {
  return hasRoom && answeredAt !== null ? answeredAt + PROMISE_MS : undefined;
}

/** Whether the node acts alone: everything that it promised is over. */
export function isAlone(state: PermitState, now: number): boolean {
  const from = aloneFrom(state);
  return from !== undefined && now >= from && now < from - PROMISE_MS + ALONE_MAX_MS && !state.leaving;
}

/** Whether the pool may admit one request now, without a permit. */
export function mayAdmitAlone(state: PermitState, meter: Meter, now: number): boolean {
  const from = aloneFrom(state);
  if (from === undefined || !isAlone(state, now)) return false;
  return meter.uses.count(now, WINDOW_MS) < limitOf(state, meter, { from, now });
}

/** Whether the pool has used its whole share; else a request is refused only because too little is known. */
export function hasUsedShare(state: PermitState, meter: Meter, now: number): boolean {
  return meter.uses.count(now, WINDOW_MS) >= shareIn(state, meter);
}

function shareIn({ places }: PermitState, { cap }: Meter): number {
  return Math.min(...places.map((place) => shareOf(cap, place)));
}

function limitOf(state: PermitState, meter: Meter, { from, now }: { from: number; now: number }): number {
  const share = shareIn(state, meter);
  // Who has been the only node for a minute knows all that was used.
  const knowsAll = state.onlySince !== null && now - state.onlySince >= WINDOW_MS;
  // What others were granted while the promise held they may use a little later.
  if (now >= from + PERMIT_TTL_MS + WINDOW_MS || knowsAll) return share;
  return Math.min(share, meter.uses.between(from - WINDOW_MS, from));
}
