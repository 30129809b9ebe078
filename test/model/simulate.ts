/**
 * Plays random histories of the model check's world. Histories go deeper than an exhaustive search: many
 * requests, several crashes, lost disks and expired leases, in random order.
 */
import fc from 'fast-check';
import { violationAtQuiescence, violationIn } from './explore.ts';
import { transitionsOf } from './transitions.ts';
import { newWorld } from './state.ts';
import type { Bounds } from './state.ts';
import { WorldDriver } from './world.ts';
import type { Rules } from './world.ts';

/** A random history. */
interface History {
  bounds: Bounds;
  /** Each number picks one of the transitions that are possible at that moment. */
  picks: readonly number[];
}

const history: fc.Arbitrary<History> = fc.record({
  bounds: fc.record({
    nodes: fc.integer({ min: 1, max: 3 }),
    requests: fc.integer({ min: 1, max: 6 }),
    total: fc.integer({ min: 0, max: 6 }),
    chunk: fc.constant(2),
    leases: fc.constant(12),
    crashes: fc.integer({ min: 0, max: 4 }),
    diskLosses: fc.integer({ min: 0, max: 1 }),
    reclaims: fc.integer({ min: 0, max: 1 }),
    earlierControl: fc.boolean(),
  }),
  picks: fc.array(fc.nat(), { minLength: 20, maxLength: 120 }),
});

interface Search {
  seed: number;
  /** Maximum number of histories played. */
  histories: number;
}

/** Plays random histories until one violates an invariant. Returns the violation; empty if there is none. */
export function findViolation(rules: Rules, { seed, histories }: Search): string {
  let violation = '';
  const found = fc.check(
    fc.property(history, (each) => {
      violation = play(each, rules);
      return violation === '';
    }),
    { numRuns: histories, seed, endOnFailure: true },
  );
  return found.failed ? violation : '';
}

/** Plays a history, then heals all faults. Returns the violation with its trace; empty if there is none. */
export function play({ bounds, picks }: History, rules: Rules): string {
  const world = newWorld(bounds);
  const driver = new WorldDriver(world, rules, bounds);
  const trace: string[] = [];
  for (const pick of picks) {
    const transitions = transitionsOf(driver);
    const [name, apply] = transitions[pick % transitions.length] ?? ['nothing', () => undefined];
    trace.push(name);
    apply(driver);
    const what = violationIn(world, bounds);
    if (what) return `${what} after ${trace.join(' ; ')}`;
  }
  const what = violationAtQuiescence(world, rules, bounds);
  return what ? `${what} after ${trace.join(' ; ')}` : '';
}
