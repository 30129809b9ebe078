/** Random histories over the production money rules. */
import { expect, test } from 'vitest';
import { MUTANTS } from './mutants.ts';
import { findViolation, play } from './simulate.ts';
import { FIXED_SEED } from '../seeds.ts';
import { PRODUCTION } from './world.ts';

const HISTORIES = 3_000;

/** A late copy of a lease request gets a lease, while its node sends the request again without an answer. */
const LATE_ANSWER = [
  1_422_128_441, 0, 683_070_589, 346_338_610, 1_845_612_299, 1_550_925_577, 14, 20, 102_256_803, 0, 0, 0, 0,
  0, 969_952_234, 2_072_084_586, 0, 1_647_357_060, 0, 1_721_130_148, 328_422_145, 0, 0, 0, 0, 559_279_086, 0,
  2_147_483_630, 0,
];

test(`no invariant is violated in ${HISTORIES} random histories`, () => {
  expect(findViolation(PRODUCTION, { seed: FIXED_SEED, histories: HISTORIES })).toBe('');
}, 120_000);

test('the lease of a request that is answered only after all faults are healed is closed', () => {
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

/** Errors that random histories find quickly; the exhaustive check finds all of them. */
const COMMON: readonly string[] = [
  'a duplicate settlement counts twice',
  'the journal is written before success',
  'a grant does not check the balance',
  'a duplicate grant is applied twice',
  'a hold does not reduce the credit of its lease',
  'a release returns the price twice',
  'a grant is not journaled',
  'a draining lease is never closed',
  'an unknown recalled lease is never closed',
  'a recall is sent only once',
  'a duplicate of a refused lease request gets a lease',
];

test.each(COMMON)('a random history finds the error: %s', (name) => {
  const rules = MUTANTS[name]?.rules ?? PRODUCTION;
  expect(findViolation(rules, { seed: FIXED_SEED, histories: HISTORIES })).not.toBe('');
});
