/**
 * The 5,040 orders of a payment's seven events, with the process killed before and after each commit, and in
 * the middle of a transaction. A run takes every 20th order; `PROOF_CASES=all` takes all.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openMoney } from '../../../test/money-fixture.ts';
import type { Money } from '../../../test/money-fixture.ts';
import { addKills, deliver, STEPS } from '../../../test/control/payment-deliveries.ts';
import type { Step } from '../../../test/control/payment-deliveries.ts';
import { permutationsOf } from '../../../test/control/payment-events.ts';
import { sliceOf } from '../../../test/seeds.ts';
import { checkInvariants } from '../../wallet/invariants.ts';

const AT_ONCE = 6;
const SLICE = 20;
const ALL = permutationsOf([0, 1, 2, 3, 4, 5, 6]);
const ORDERS = sliceOf(ALL, SLICE);
const TEST_MS = 1_800_000;

/** One event of each order is cut off after some steps; over all orders, each place after each step. */
const killsOf = (at: number) => (place: number) =>
  place === at % 7 ? STEPS.filter((_, step) => (step + Math.floor(at / 7)) % 4 === 0) : [];

let money: Money;
beforeAll(async () => {
  money = await openMoney();
  await addKills(money.url);
});
afterAll(() => money.close());

it(
  'the wallet has the due balance after each event in each order, and is credited once',
  async () => {
    expect(ALL).toHaveLength(5040);
    const kills = new Map<Step, number>();
    const lanes = Array.from({ length: AT_ONCE }, async (_, lane) => {
      const faults: string[] = [];
      for (let at = lane; at < ORDERS.length; at += AT_ONCE) {
        const { walletId } = await money.wallet({});
        const delivery = { walletId, order: ORDERS[at] ?? [], tag: String(at), killsAt: killsOf(at) };
        const done = await deliver(money.em, delivery);
        faults.push(...done.faults);
        for (const step of done.killed) kills.set(step, (kills.get(step) ?? 0) + 1);
      }
      return faults;
    });
    expect((await Promise.all(lanes)).flat()).toEqual([]);
    expect([...kills.keys()].toSorted()).toEqual([...STEPS].toSorted());
    expect(await checkInvariants(money.em())).toEqual([]);
  },
  TEST_MS,
);
