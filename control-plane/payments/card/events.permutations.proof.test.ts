/**
 * All 5,040 orders of a payment's seven events, with the process killed before and after each commit, and in
 * the middle of a transaction.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openMoney } from '../../../test/money-fixture.ts';
import type { Money } from '../../../test/money-fixture.ts';
import { addKills, deliver, STEPS } from '../../../test/control/payment-deliveries.ts';
import type { Step } from '../../../test/control/payment-deliveries.ts';
import { permutationsOf } from '../../../test/control/payment-events.ts';
import { checkInvariants } from '../../wallet/invariants.ts';
import { walletById } from '../../wallet/wallet.service.ts';

const AT_ONCE = 6;
const ORDERS = permutationsOf([0, 1, 2, 3, 4, 5, 6]);

/** One event of each order is cut off after one step; over all orders, each place after each step. */
const killsOf = (at: number) => (place: number) =>
  place === at % 7 ? STEPS.filter((_, step) => step === Math.floor(at / 7) % STEPS.length) : [];

let money: Money;
beforeAll(async () => {
  money = await openMoney();
  await addKills(money.url);
});
afterAll(() => money.close());

it('each order of the events leaves the same money in the wallet, and credits it once', async () => {
  const kills = new Map<Step, number>();
  const wallets = await Promise.all(Array.from({ length: AT_ONCE }, () => money.wallet({})));
  const lanes = wallets.map(async ({ walletId }, lane) => {
    const faults: string[] = [];
    for (let at = lane; at < ORDERS.length; at += AT_ONCE) {
      const delivery = { walletId, order: ORDERS[at] ?? [], tag: String(at), killsAt: killsOf(at) };
      const done = await deliver(money.em, delivery);
      faults.push(...done.faults);
      for (const step of done.killed) kills.set(step, (kills.get(step) ?? 0) + 1);
    }
    return faults;
  });
  expect((await Promise.all(lanes)).flat()).toEqual([]);
  const states = await Promise.all(wallets.map(({ walletId }) => walletById(money.em(), walletId)));
  const sum = states.reduce((total, state) => total + (state?.cash ?? 0n) - (state?.receivable ?? 0n), 0n);
  expect(sum).toBe(20_000_000n * BigInt(ORDERS.length));
  expect(ORDERS).toHaveLength(5040);
  expect([...kills.keys()].toSorted()).toEqual([...STEPS].toSorted());
  expect(await checkInvariants(money.em())).toEqual([]);
}, 900_000);
