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
    formerControl: fc.boolean(),
  }),
  picks: fc.array(fc.nat(), { minLength: 20, maxLength: 120 }),
});

/** An old copy of a question gets a lease; its node asks again meanwhile, and hears nothing yet. */
const LATE_ANSWER = [
  1_422_128_441, 0, 683_070_589, 346_338_610, 1_845_612_299, 1_550_925_577, 14, 20, 102_256_803, 0, 0, 0, 0,
  0, 969_952_234, 2_072_084_586, 0, 1_647_357_060, 0, 1_721_130_148, 328_422_145, 0, 0, 0, 0, 559_279_086, 0,
  2_147_483_630, 0,
];

test(`in ${HISTORIES} histories no rule is broken (seed ${SEED})`, () => {
  fc.assert(
    fc.property(history, (each) => {
      expect(play(each, PRODUCTION)).toBe('');
    }),
    { numRuns: HISTORIES, seed: SEED },
  );
}, 120_000);

test('a question that is only answered at rest keeps no lease open', () => {
  const bounds = {
    nodes: 1,
    requests: 6,
    total: 2,
    chunk: 2,
    leases: 12,
    crashes: 2,
    diskLosses: 0,
    reclaims: 0,
  };
  expect(play({ bounds, picks: LATE_ANSWER }, PRODUCTION)).toBe('');
});

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
  'a lease that came while nobody asked is kept for ever',
  'a recall is told once',
  'a question that was refused gets a lease when it comes again',
];

test.each(COMMON)('the simulation finds the error, too: %s', (name) => {
  const rules = MUTANTS[name]?.rules ?? PRODUCTION;
  const found = fc.check(
    fc.property(history, (each) => play(each, rules) === ''),
    { numRuns: HISTORIES, seed: SEED, endOnFailure: true },
  );
  expect(found.failed).toBe(true);
});
