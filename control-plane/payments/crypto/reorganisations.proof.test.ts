/** Reorganisations of depth 1 to 64 at every state of a deposit: never credited twice, never lost. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONFIRMATIONS, openDeposits } from '../../../test/control/deposits.ts';
import type { DepositHouse } from '../../../test/control/deposits.ts';
import { PROOF_SEED, TAKES_ALL_CASES } from '../../../test/seeds.ts';
import { query, sql } from '../../database/sql.ts';

const USDC = 1_000_000n;
const DEPTH_MAX = 64;
/** A run tests every 16th depth (which ones its seed decides) and those near the confirmations. */
const STEP = 16;
/** Blocks that follow the deposit when the reorganisation comes, by the state of the deposit then. */
const FOLLOWING = { SEEN: 0, CONFIRMING: 2, CREDITED: CONFIRMATIONS - 1 };
const TEST_MS = 600_000;
/** The depths of this run. `PROOF_CASES=all` tests all of them. */
const DEPTHS = Array.from({ length: DEPTH_MAX }, (_, at) => at + 1).filter(
  (depth) =>
    TAKES_ALL_CASES ||
    depth % STEP === PROOF_SEED % STEP ||
    Math.abs(depth - CONFIRMATIONS) <= 1 ||
    depth === 1 ||
    depth === DEPTH_MAX,
);

let house: DepositHouse;
beforeAll(async () => {
  house = await openDeposits();
  await house.chain.mine(DEPTH_MAX);
});
afterAll(() => house.close());

const em = () => house.test.orm.em.fork();
const resume = () => query(em(), sql`update crypto_chain set frozen_at = null, frozen_reason = null`);

describe.each(Object.entries(FOLLOWING))('a deposit that is %s', (state, following) => {
  it.each([
    { name: 'is credited once if it is mined again', isMined: true },
    { name: 'is credited only if its block is still there', isMined: false },
  ])(
    `$name, after reorganisations of up to ${DEPTH_MAX} blocks`,
    async ({ isMined }) => {
      const customer = await house.customer();
      let due = 0;
      for (const depth of DEPTHS) {
        const hash = await house.chain.transfer(customer.address, USDC);
        const raw = await house.chain.call('eth_getRawTransactionByHash', hash);
        await house.watch();
        await house.chain.mine(following);
        await house.watch();
        expect(await house.state()).toMatchObject({ trouble: null, frozen: false });
        expect((await customer.topUps()).at(-1)).toMatchObject({ state, deposit: { txHash: hash } });
        const isReplaced = depth > following;
        await house.chain.call(
          'anvil_reorg',
          depth,
          isMined && isReplaced ? [[raw, (depth % 7) % depth]] : [],
        );
        await house.watch();
        // The next reorganisation is up to STEP blocks deeper and must not reach this deposit.
        await house.chain.mine(2 * CONFIRMATIONS + STEP);
        await resume();
        await house.watch();
        due += isMined || !isReplaced ? 1 : 0;
        expect({ depth, cash: await customer.cash() }).toEqual({ depth, cash: `${due}.00` });
      }
      expect(await house.state()).toMatchObject({ trouble: null });
    },
    TEST_MS,
  );
});

it('a scan from the first block credits nothing after all of them', async () => {
  const entries = () => query(em(), sql`select id from ledger_entry order by id`);
  const before = await entries();
  await query(em(), sql`update crypto_chain set cursor = null, due_at = now()`);
  await query(em(), sql`delete from crypto_block`);
  await house.watch();
  expect((await house.state()).cursor).toBe(await house.chain.head());
  expect(await entries()).toEqual(before);
});
