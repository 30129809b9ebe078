/** Tests of deposits on a real chain: found, confirmed and credited once, whatever chain and services do. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { pick } from '../../../test/control/app.ts';
import { TOKEN } from '../../../test/control/chain.ts';
import type { Disturbance } from '../../../test/control/chain.ts';
import { CONFIRMATIONS, openDeposits } from '../../../test/control/deposits.ts';
import type { DepositCustomer, DepositHouse } from '../../../test/control/deposits.ts';
import { query, sql } from '../../database/sql.ts';

const USDC = 1_000_000n;

let house: DepositHouse;
beforeAll(async () => {
  house = await openDeposits();
});
afterAll(() => house.close());
afterEach(() => {
  house.chain.disturb(0, null);
  house.chain.disturb(1, null);
});

const statesOf = async (customer: DepositCustomer) => (await customer.topUps()).map(({ state }) => state);

/** Mines the missing confirmations of the newest block, and reads the chain. */
async function confirm(): Promise<void> {
  await house.chain.mine(CONFIRMATIONS - 1);
  await house.watch();
}

describe('a deposit', () => {
  it('is found, counts its confirmations, and is credited once', async () => {
    const customer = await house.customer();
    await house.chain.transfer(customer.address, 25n * USDC);
    await house.watch();
    expect(await customer.topUps()).toMatchObject([
      { state: 'SEEN', amount: '25.00', credited: '0.00', deposit: { confirmations: 1 } },
    ]);
    await house.chain.mine(2);
    await house.watch();
    expect(await customer.topUps()).toMatchObject([{ state: 'CONFIRMING', deposit: { confirmations: 3 } }]);
    expect(await customer.cash()).toBe('0.00');
    await house.chain.mine(CONFIRMATIONS - 3);
    await house.watch();
    expect(await customer.topUps()).toMatchObject([{ state: 'CREDITED', credited: '25.00' }]);
    for (let times = 0; times < 3; times += 1) await house.watch();
    expect(await customer.cash()).toBe('25.00');
  });

  it('is stored for each transfer of a transaction, and not for other tokens', async () => {
    const customer = await house.customer();
    const other = await house.chain.deploy(6);
    await house.chain.transfer(customer.address, 3n * USDC, { twice: true });
    await house.chain.transfer(customer.address, 100n * USDC, { token: other });
    await house.chain.transfer(customer.address, 0n);
    await house.watch();
    await confirm();
    expect(await statesOf(customer)).toEqual(['CREDITED', 'CREDITED']);
    expect(await customer.cash()).toBe('6.00');
  });

  it('waits below the minimum until the sum of all deposits reaches it', async () => {
    const customer = await house.customer();
    await house.chain.transfer(customer.address, USDC / 2n);
    await house.watch();
    await confirm();
    expect(await statesOf(customer)).toEqual(['CONFIRMING']);
    await house.chain.transfer(customer.address, USDC / 2n + 1n);
    await house.watch();
    await confirm();
    expect(await statesOf(customer)).toEqual(['CREDITED', 'CREDITED']);
    expect(await customer.cash()).toBe('1.000001');
  });

  it('is worth the same in a token with 18 decimals', async () => {
    const large = await house.chain.deploy(18);
    await house.setToken({ contract: large, symbol: 'USDX', minimum: '1' });
    const customer = await house.customer();
    await house.chain.transfer(customer.address, 12n * 10n ** 18n, { token: large });
    await house.chain.transfer(customer.address, 10n ** 11n, { token: large });
    await house.watch();
    await confirm();
    expect(await customer.cash()).toBe('12.00');
  });

  it('is not credited again by a scan from the first block', async () => {
    const customer = await house.customer();
    await house.chain.transfer(customer.address, 5n * USDC);
    await house.watch();
    await confirm();
    const em = house.test.orm.em.fork();
    const entries = () => query(em, sql`select id, amount::text from ledger_entry order by id`);
    const before = await entries();
    await query(em, sql`update crypto_chain set cursor = null`);
    await query(em, sql`delete from crypto_block`);
    await house.watch();
    expect(await entries()).toEqual(before);
    expect((await house.state()).cursor).toBe(await house.chain.head());
  });
});

describe('a reorganisation', () => {
  it('removes a deposit before its credit, and credits it once if it is mined again', async () => {
    const customer = await house.customer();
    const snapshot = await house.chain.call('evm_snapshot');
    const lost = await house.chain.transfer(customer.address, 7n * USDC);
    const raw = await house.chain.call('eth_getRawTransactionByHash', lost);
    await house.watch();
    expect(await statesOf(customer)).toEqual(['SEEN']);
    await house.chain.call('evm_revert', snapshot);
    await house.chain.mine(3);
    await house.watch();
    expect(await statesOf(customer)).toEqual(['ORPHANED']);
    await house.chain.mine(2 * CONFIRMATIONS);
    await house.watch();
    expect(await customer.cash()).toBe('0.00');
    expect(await house.chain.resend(raw)).toBe(lost);
    await house.watch();
    expect(await statesOf(customer)).toEqual(['SEEN']);
    await confirm();
    expect(await statesOf(customer)).toEqual(['CREDITED']);
    expect(await customer.cash()).toBe('7.00');
  });

  it('takes a credit back, freezes the chain, and credits again after the chain is resumed', async () => {
    const customer = await house.customer();
    const snapshot = await house.chain.call('evm_snapshot');
    const hash = await house.chain.transfer(customer.address, 9n * USDC);
    const raw = await house.chain.call('eth_getRawTransactionByHash', hash);
    await house.watch();
    await confirm();
    expect(await customer.cash()).toBe('9.00');
    await house.chain.call('evm_revert', snapshot);
    await house.chain.mine(2 * CONFIRMATIONS);
    await house.watch();
    expect(await statesOf(customer)).toEqual(['ORPHANED']);
    expect(await customer.cash()).toBe('0.00');
    expect((await house.state()).frozen).toBe(true);
    await house.chain.resend(raw);
    await house.watch();
    await confirm();
    expect(await statesOf(customer)).toEqual(['CONFIRMING']);
    const resume = `mutation ($input: AdminChainResumeInput!) { adminChainResume(input: $input) {
      chain { frozenAt frozenBlock } userErrors { code } } }`;
    const resumed = await house.admin.send(resume, { input: { chainId: 31_337, reason: 'looked at' } });
    expect(pick(resumed, 'adminChainResume', 'chain')).toEqual({ frozenAt: null, frozenBlock: null });
    await house.watch();
    expect(await statesOf(customer)).toEqual(['CREDITED']);
    expect(await customer.cash()).toBe('9.00');
  });
});

describe('an RPC service', () => {
  /** A disturbance of one method. */
  const on =
    (method: string, change: (result: unknown) => unknown): Disturbance =>
    (question, answer) =>
      question.method === method ? { result: change(answer.result) } : answer;

  const faults: [string, Disturbance, string][] = [
    ['is down', () => 503, 'DOWN'],
    ['limits the rate', () => 429, 'RATE_LIMITED'],
    ['answers nonsense', () => ({ result: 'nonsense' }), 'WRONG'],
    ['serves another chain', on('eth_chainId', () => '0x1'), 'WRONG_CHAIN'],
    ['hides a transfer', on('eth_getLogs', () => []), 'DISAGREEMENT'],
    [
      'refuses the range',
      (question, answer) =>
        question.method === 'eth_getLogs'
          ? { error: { code: -32_005, message: 'query returned more than 10000 results' } }
          : answer,
      'REFUSED',
    ],
  ];
  it.each(faults)('stops credits without a loss if it %s', async (_name, disturbance, trouble) => {
    const customer = await house.customer();
    await house.chain.transfer(customer.address, 2n * USDC);
    house.chain.disturb(1, disturbance);
    await house.watch();
    await confirm();
    expect((await house.state()).trouble).toBe(trouble);
    expect(await customer.topUps()).toEqual([]);
    house.chain.disturb(1, null);
    await house.watch();
    expect((await house.state()).trouble).toBeNull();
    expect(await customer.cash()).toBe('2.00');
  });

  it('causes no credit if it invents a transfer', async () => {
    const customer = await house.customer();
    const lie: Disturbance = ({ method }, answer) => {
      if (method !== 'eth_getLogs' || !Array.isArray(answer.result)) return answer;
      const word = (hex: string): string => `0x${hex.padStart(64, '0')}`;
      const log = {
        address: TOKEN,
        topics: [
          '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
          word('1'),
          word(customer.address.slice(2).toLowerCase()),
        ],
        ...{ data: word('ffffffff'), transactionHash: word('1'), blockHash: word('2') },
        ...{ blockNumber: '0x1', logIndex: '0x0' },
      };
      return { result: [...answer.result, log] };
    };
    house.chain.disturb(0, lie);
    await house.watch();
    await confirm();
    expect(await customer.topUps()).toEqual([]);
    expect((await house.state()).trouble).toBe('DISAGREEMENT');
  });

  it('loses no deposit if its head goes back or lags', async () => {
    const customer = await house.customer();
    await house.chain.transfer(customer.address, 4n * USDC);
    await house.watch();
    const head = await house.chain.head();
    const back: Disturbance = (question, answer) => {
      const [which] = question.params;
      if (question.method !== 'eth_getBlockByNumber' || which !== 'latest') return answer;
      return { result: { ...(answer.result as object), number: `0x${(head - 5).toString(16)}` } };
    };
    house.chain.disturb(0, back);
    await house.watch();
    expect(await statesOf(customer)).toEqual(['SEEN']);
    house.chain.disturb(0, null);
    await confirm();
    expect(await customer.cash()).toBe('4.00');
  });
});
