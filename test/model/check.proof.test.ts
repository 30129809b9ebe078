/** The full model check: many more states of each world than a push visits. */
import { expect, test } from 'vitest';
import { WORLDS } from './check.ts';
import { explore } from './explore.ts';
import { PRODUCTION } from './world.ts';

/** Number of states visited per world. */
const STATES = 120_000;
const LIMIT_MS = 600_000;

test.each(Object.entries(WORLDS))(
  `the money rules hold in the first ${STATES} reachable states with %s`,
  (_, bounds) => {
    const result = explore({ bounds, rules: PRODUCTION, limit: STATES, quiescenceEvery: 29 });
    expect(result.violation).toBe(undefined);
    // Some worlds have fewer states.
    expect(result.exhausted || result.states === STATES).toBe(true);
  },
  LIMIT_MS,
);
