/** Compares the control plane of the model check with the real one in a few histories. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMoney } from '../money-fixture.ts';
import type { Money } from '../money-fixture.ts';
import { compareControlPlanes, WORDS } from './conformance.ts';
import { PRODUCTION } from './world.ts';

/** A seed with which all words occur, and all errors are found, within a few histories. */
const SEED = 22;
const HISTORIES = 10;
/** Number of histories within which an error of the model must be found. */
const FINDING_HISTORIES = 25;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

test(`the model answers like the real control plane in ${HISTORIES} histories`, async () => {
  const comparison = { rules: PRODUCTION, seed: SEED, histories: HISTORIES };
  const { difference, words } = await compareControlPlanes(money, comparison);
  expect(difference).toBe('');
  // Messages that never occurred were not compared.
  expect(Object.keys(words)).toEqual(expect.arrayContaining(WORDS));
}, 120_000);

/** Errors in the model's control plane alone, which the comparison must detect. */
test.each([
  ['counts a duplicate settlement twice', { dedupes: false }],
  ['closes a lease without the exact count', { closesExactly: false }],
  ['closes a lease for another journal', { checksJournal: false }],
  ['grants more than the balance', { guardsBalance: false }],
] as const)(
  'a model that %s differs from the real control plane',
  async (_, wrong) => {
    const comparison = { rules: { ...PRODUCTION, ...wrong }, seed: SEED, histories: FINDING_HISTORIES };
    expect((await compareControlPlanes(money, comparison)).difference).not.toBe('');
  },
  120_000,
);
