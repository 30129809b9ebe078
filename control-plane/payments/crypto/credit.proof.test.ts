/** Tests of many deposits of one address, and of deposits to many addresses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONFIRMATIONS, openDeposits } from '../../../test/control/deposits.ts';
import type { DepositHouse } from '../../../test/control/deposits.ts';
import { query, sql } from '../../database/sql.ts';

const USDC = 1_000_000n;
const TEST_MS = 300_000;

let house: DepositHouse;
beforeAll(async () => {
  house = await openDeposits();
});
afterAll(() => house.close());

const em = () => house.test.orm.em.fork();

async function confirm(): Promise<void> {
  await house.chain.mine(CONFIRMATIONS - 1);
  await house.watch();
}

describe('small deposits', () => {
  it(
    'count together for the minimum, however many they are',
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

describe('addresses', () => {
  it(
    'are all watched, also beyond the 500 of one question',
    async () => {
      const last = await house.customer();
      await query(
        em(),
        sql`insert into users (id, email) select 'usr_' || n, 'many' || n || '@example.com'
        from generate_series(1, 600) n`,
      );
      await query(
        em(),
        sql`insert into crypto_address (address, user_id, key_id, index)
        select '0x' || lpad(to_hex(n), 40, '0'), 'usr_' || n, (select id from crypto_key limit 1), 100000 + n
        from generate_series(1, 600) n`,
      );
      const sizes: number[] = [];
      house.chain.disturb(0, ({ method, params }, answer) => {
        if (method === 'eth_getLogs')
          sizes.push((params as [{ topics: unknown[][] }])[0].topics[2]?.length ?? 0);
        return answer;
      });
      const first = `0x${'1'.padStart(40, '0')}`;
      await house.chain.transfer(first, 5n * USDC);
      await house.chain.transfer(last.address, 6n * USDC);
      await house.watch();
      await confirm();
      expect(await last.cash()).toBe('6.00');
      const credited = await query(
        em(),
        sql`select credited::text from top_up where user_id = 'usr_1' and state = 'CREDITED'`,
      );
      expect(credited).toEqual([{ credited: '5000000' }]);
      expect(Math.max(...sizes)).toBe(500);
    },
    TEST_MS,
  );
});
