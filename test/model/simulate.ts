/**
 * One random history of the world of the model check, deeper than an exhaustive search gets: many requests,
 * several crashes, lost disks and leases that run out, in an order drawn from the seed.
 */
import { wrongAtRest, wrongIn } from './explore.ts';
import { movesOf } from './moves.ts';
import { newWorld } from './state.ts';
import type { Bounds } from './state.ts';
import { Mover } from './world.ts';
import type { Rules } from './world.ts';

export interface History {
  bounds: Bounds;
  /** Each picks one of the moves that are possible at that moment. */
  picks: readonly number[];
}

/** Plays a history, then heals everything. What went wrong, with its trace, or nothing. */
export function play({ bounds, picks }: History, rules: Rules): string {
  const world = newWorld(bounds);
  const mover = new Mover(world, rules, bounds);
  const trace: string[] = [];
  for (const pick of picks) {
    const moves = movesOf(mover);
    const [name, apply] = moves[pick % moves.length] ?? ['nothing', () => undefined];
    trace.push(name);
    apply(mover);
    const what = wrongIn(world, bounds);
    if (what) return `${what} after ${trace.join(' ; ')}`;
  }
  const what = wrongAtRest(world, rules, bounds);
  return what ? `${what} after ${trace.join(' ; ')}` : '';
}
