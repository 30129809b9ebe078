/** Random histories over the production money rules. `SIMULATION_SEED=N` plays those of an earlier run. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MUTANTS } from './mutants.ts';
import { play } from './simulate.ts';
import { PRODUCTION } from './world.ts';

const HISTORIES = 10_000;
const SEED = Number(process.env['SIMULATION_SEED'] ?? Date.now() % 1_000_000);

const history = fc.record({
  bounds: fc.record({
    nodes: fc.integer({ min: 1, max: 3 }),
    requests: fc.integer({ min: 1, max: 6 }),
    total: fc.integer({ min: 0, max: 6 }),
    chunk: fc.constant(2),
    leases: fc.constant(12),
    crashes: fc.integer({ min: 0, max: 4 }),
    diskLosses: fc.integer({ min: 0, max: 1 }),
    reclaims: fc.integer({ min: 0, max: 1 }),
  }),
  picks: fc.array(fc.nat(), { minLength: 20, maxLength: 120 }),
});

test(`in ${HISTORIES} histories no rule is broken (seed ${SEED})`, () => {
  fc.assert(
    fc.property(history, (each) => {
      expect(play(each, PRODUCTION)).toBe('');
    }),
    { numRuns: HISTORIES, seed: SEED },
  );
}, 120_000);

/** Errors that chance finds within few histories; the exhaustive check finds all of them. */
const COMMON: readonly string[] = [
  'a settlement that comes twice counts twice',
  'the journal is written before success',
  'a grant is not guarded by the balance',
  'a grant is applied again when it arrives again',
  'a hold does not lessen the lease',
  'a release gives back twice',
  'a grant is not written down',
  'a draining lease is never closed',
];

test.each(COMMON)('the simulation finds the error, too: %s', (name) => {
  const rules = MUTANTS[name]?.rules ?? PRODUCTION;
  const found = fc.check(
    fc.property(history, (each) => play(each, rules) === ''),
    { numRuns: HISTORIES, seed: SEED, endOnFailure: true },
  );
  expect(found.failed).toBe(true);
});
