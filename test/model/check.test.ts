/** The short form of the model check; `npm run model` is the long one. */
import { expect, test } from 'vitest';
import { SMALL, WORLDS } from './check.ts';
import { explore } from './explore.ts';
import { MUTANTS } from './mutants.ts';
import { PRODUCTION } from './world.ts';

const STATES = 4_000;
const MUTANT_STATES = 30_000;

test.each(Object.entries(WORLDS))(
  'the money rules hold in every state that is reached with %s',
  (_, bounds) => {
    const { states, violation } = explore({ bounds, rules: PRODUCTION, limit: STATES, restEvery: 11 });
    expect(violation).toBe(undefined);
    expect(states).toBe(STATES);
  },
);

test.each(Object.entries(MUTANTS))('the check finds the error: %s', (_, { rules, bounds }) => {
  const { violation } = explore({
    bounds: { ...SMALL, ...bounds },
    rules,
    limit: MUTANT_STATES,
    restEvery: 3,
  });
  expect(violation).toBeDefined();
});
