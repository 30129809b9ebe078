/** Tests of many deposits of one address. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONFIRMATIONS, openDeposits } from '../../../test/control/deposits.ts';
import type { DepositHouse } from '../../../test/control/deposits.ts';

const USDC = 1_000_000n;
const TEST_MS = 300_000;

let house: DepositHouse;
beforeAll(async () => {
  house = await openDeposits();
});
afterAll(() => house.close());

async function confirm(): Promise<void> {
  await house.chain.mine(CONFIRMATIONS - 1);
  await house.watch();
}

describe('small deposits', () => {
  it(
    'count together towards the minimum, however many they are',
    async () => {
      const customer = await house.customer();
      // 140 transfers of 0.8 cents are 1.12 dollars; the 100 that are credited at once are 0.80.
      for (let at = 0; at < 70; at += 1) await house.chain.transfer(customer.address, 8000n, { twice: true });
      await house.watch();
      await confirm();
      expect(await customer.cash()).toBe('0.80');
      await house.watch();
      expect(await customer.cash()).toBe('0.80');
      await house.chain.transfer(customer.address, USDC);
      await house.watch();
      await confirm();
      expect(await customer.cash()).toBe('2.12');
    },
    TEST_MS,
  );
});
