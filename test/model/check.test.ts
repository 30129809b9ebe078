/** The model check of every push. The proof tier and `npm run model` visit more states. */
import { expect, test } from 'vitest';
import { SMALL, WORLDS } from './check.ts';
import { Encoding } from './encoding.ts';
import { explore } from './explore.ts';
import { transitionsOf } from './transitions.ts';
import { MUTANTS } from './mutants.ts';
import { copyWorld, newWorld } from './state.ts';
import { WorldDriver, PRODUCTION } from './world.ts';

/** Number of states visited per world. */
const STATES = 8_000;
const MUTANT_STATES = 30_000;
const LIMIT_MS = 120_000;

test.each(Object.entries(WORLDS))(
  `the money rules hold in the first ${STATES} reachable states with %s`,
  (_, bounds) => {
    const { violation, states } = explore({ bounds, rules: PRODUCTION, limit: STATES, quiescenceEvery: 29 });
    expect({ violation, states }).toEqual({ violation: undefined, states: STATES });
  },
  LIMIT_MS,
);

test.each(Object.entries(MUTANTS))(
  'the model check finds the error: %s',
  (_, { rules, bounds }) => {
    const { violation } = explore({
      bounds: { ...SMALL, ...bounds },
      rules,
      limit: MUTANT_STATES,
      quiescenceEvery: 3,
    });
    expect(violation).toBeDefined();
  },
  LIMIT_MS,
);

test('a transition changes its own copy of a world and nothing else', () => {
  const bounds = { ...SMALL, crashes: 1, diskLosses: 1, reclaims: 1 };
  const encoding = new Encoding();
  let worlds = [newWorld(bounds)];
  let changed = 0;
  for (let level = 0; level < 7; level += 1) {
    const next = [];
    for (const world of worlds.slice(0, 300)) {
      const before = encoding.write(world);
      for (const [, apply] of transitionsOf(new WorldDriver(world, PRODUCTION, bounds))) {
        const copy = copyWorld(world);
        apply(new WorldDriver(copy, PRODUCTION, bounds));
        if (encoding.write(copy) !== before) changed += 1;
        next.push(copy);
      }
      expect(encoding.write(world)).toBe(before);
    }
    worlds = next;
  }
  expect(changed).toBeGreaterThan(1_000);
});
