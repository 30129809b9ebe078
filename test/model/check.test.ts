/** The model check of every test run; `npm run model` can go further. */
import { expect, test } from 'vitest';
import { SMALL, WORLDS } from './check.ts';
import { Encoding } from './encoding.ts';
import { explore } from './explore.ts';
import { movesOf } from './moves.ts';
import { MUTANTS } from './mutants.ts';
import { copyWorld, newWorld } from './state.ts';
import { Mover, PRODUCTION } from './world.ts';

/** Of each world. */
const STATES = 60_000;
const MUTANT_STATES = 30_000;
const LIMIT_MS = 240_000;

test.each(Object.entries(WORLDS))(
  `the money rules hold in the first ${STATES} states that are reached with %s`,
  (_, bounds) => {
    const result = explore({ bounds, rules: PRODUCTION, limit: STATES, restEvery: 29 });
    expect(result.violation).toBe(undefined);
    // One of the worlds has a few less.
    expect(result.exhausted ? STATES : result.states).toBe(STATES);
  },
  LIMIT_MS,
);

test.each(Object.entries(MUTANTS))(
  'the check finds the error: %s',
  (_, { rules, bounds }) => {
    const { violation } = explore({
      bounds: { ...SMALL, ...bounds },
      rules,
      limit: MUTANT_STATES,
      restEvery: 3,
    });
    expect(violation).toBeDefined();
  },
  LIMIT_MS,
);

test('a move changes its own copy of a world and nothing else', () => {
  const bounds = { ...SMALL, crashes: 1, diskLosses: 1, reclaims: 1 };
  const encoding = new Encoding();
  let worlds = [newWorld(bounds)];
  let moved = 0;
  for (let level = 0; level < 7; level += 1) {
    const next = [];
    for (const world of worlds.slice(0, 300)) {
      const before = encoding.write(world);
      for (const [, apply] of movesOf(new Mover(world, PRODUCTION, bounds))) {
        const copy = copyWorld(world);
        apply(new Mover(copy, PRODUCTION, bounds));
        if (encoding.write(copy) !== before) moved += 1;
        next.push(copy);
      }
      expect(encoding.write(world)).toBe(before);
    }
    worlds = next;
  }
  expect(moved).toBeGreaterThan(1_000);
});
