/** Compares the control plane of the model check with the real one in many histories. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMoney } from '../money-fixture.ts';
import type { Money } from '../money-fixture.ts';
import { PROOF_SEED } from '../seeds.ts';
import { compareControlPlanes, WORDS } from './conformance.ts';
import { PRODUCTION } from './world.ts';

const HISTORIES = 400;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

test(`the model answers like the control plane in ${HISTORIES} histories (seed ${PROOF_SEED})`, async () => {
  const comparison = { rules: PRODUCTION, seed: PROOF_SEED, histories: HISTORIES };
  const { difference, words } = await compareControlPlanes(money, comparison);
  expect(difference).toBe('');
  expect(Object.keys(words)).toEqual(expect.arrayContaining(WORDS));
}, 600_000);
