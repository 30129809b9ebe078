/** Many random histories over the production money rules. */
import { expect, test } from 'vitest';
import { PROOF_SEED } from '../seeds.ts';
import { findViolation } from './simulate.ts';
import { PRODUCTION } from './world.ts';

const HISTORIES = 100_000;

test(`no invariant is violated in ${HISTORIES} random histories (seed ${PROOF_SEED})`, () => {
  expect(findViolation(PRODUCTION, { seed: PROOF_SEED, histories: HISTORIES })).toBe('');
}, 600_000);
