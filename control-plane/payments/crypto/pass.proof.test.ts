/** Tests of one pass over a chain: what it reads again, credits and tells, and what it leaves alone. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CHAIN_ID } from '../../../test/control/chain.ts';
import { CONFIRMATIONS, openDeposits } from '../../../test/control/deposits.ts';
import type { DepositCustomer, DepositHouse } from '../../../test/control/deposits.ts';
import { pick } from '../../../test/control/app.ts';
import { query, sql } from '../../database/sql.ts';

const USDC = 1_000_000n;
/** Blocks before the last scanned one that a pass reads again. */
const OVERLAP = 12;

let house: DepositHouse;
let listener: pg.Client;
const told: string[] = [];
beforeAll(async () => {
  house = await openDeposits();
  listener = new pg.Client({ connectionString: house.test.settings.databaseUrl });
  await listener.connect();
  listener.on('notification', ({ payload }) => {
    const { topic, id } = JSON.parse(payload ?? '{}') as { topic: string; id: string };
    if (topic === 'topUpUpdated') told.push(id);
  });
  await listener.query('listen gateway_events');
});
afterAll(async () => {
  await listener.end();
  await house.close();
});
afterEach(async () => {
  for (const service of [0, 1] as const) house.chain.disturb(service, null);
  await query(em(), sql`update crypto_chain set frozen_at = null`);
});

const em = () => house.test.orm.em.fork();
const statesOf = async (customer: DepositCustomer) => (await customer.topUps()).map(({ state }) => state);

async function confirm(): Promise<void> {
  await house.chain.mine(CONFIRMATIONS - 1);
  await house.watch();
}

/** Parameters of the calls of one method while `work` runs. */
async function callsOf(method: string, work: () => Promise<void>): Promise<unknown[][]> {
  const calls: unknown[][] = [];
  house.chain.disturb(0, (question, answer) => {
    if (question.method === method) calls.push(question.params);
    return answer;
  });
  await work();
  house.chain.disturb(0, null);
  return calls;
}

/** Deposits the amounts, and returns the customer with the signed transactions. */
async function deposited(...units: bigint[]): Promise<{ customer: DepositCustomer; signed: unknown[] }> {
  const customer = await house.customer();
  const signed = [];
  for (const amount of units) {
    const hash = await house.chain.transfer(customer.address, amount);
    signed.push(await house.chain.call('eth_getRawTransactionByHash', hash));
  }
  return { customer, signed };
}

describe('a pass over a chain without a reorganisation', () => {
  it('reads the overlap and the new blocks, and stores nothing that it has stored', async () => {
    const { customer } = await deposited(5n * USDC);
    await confirm();
    await house.chain.mine(3 * OVERLAP);
    await house.watch();
    const { cursor } = await house.state();
    const changes = () => query(em(), sql`select id, updated_at::text from top_up order by id`);
    const { customer: waiting } = await deposited(USDC / 2n);
    await house.watch();
    const before = await changes();
    const ranges = await callsOf('eth_getLogs', () => house.watch());
    expect(ranges).toMatchObject([[{ fromBlock: `0x${(cursor + 1 - OVERLAP + 1).toString(16)}` }]]);
    expect(await changes()).toEqual(before);
    expect([await statesOf(customer), await statesOf(waiting)]).toEqual([['CREDITED'], ['SEEN']]);
  });

  it('tells the owners of open deposits about new blocks, and nobody without new blocks', async () => {
    const { customer: credited } = await deposited(5n * USDC);
    await confirm();
    const { customer } = await deposited(USDC / 2n);
    await house.watch();
    await house.chain.mine(1);
    await house.watch();
    const [[open], [done]] = [await customer.topUps(), await credited.topUps()];
    await expect.poll(() => told).toContain(open?.id);
    told.length = 0;
    await house.watch();
    await house.chain.mine(1);
    await house.watch();
    await expect.poll(() => told).toContain(open?.id);
    expect(told.filter((id) => id === open?.id)).toHaveLength(1);
    expect(told).not.toContain(done?.id);
  });

  it('treats a token that only another chain accepts as foreign', async () => {
    const other = await house.chain.deploy(6);
    await query(
      em(),
      sql`insert into crypto_chain (chain_id, name, enabled, confirmations, needs_finality, start_block,
        rpc_sealed, rpc_hosts) values (5, 'Other', false, 6, false, 0, '{a,b}', '{a,b}')`,
    );
    await query(
      em(),
      sql`insert into crypto_token (chain_id, contract, symbol, decimals, minimum)
      values (5, ${other}, 'OTHER', 6, 1)`,
    );
    const customer = await house.customer();
    await house.chain.transfer(customer.address, 9n * USDC, { token: other });
    await confirm();
    expect(await customer.topUps()).toEqual([]);
    expect(await house.state()).toMatchObject({ trouble: null });
  });
});

describe('a reorganisation that is deeper than the overlap', () => {
  it('takes a credit back, and freezes the chain before the same pass credits another deposit', async () => {
    const snapshot = await house.chain.call('evm_snapshot');
    const { customer: first } = await deposited(4n * USDC);
    await house.chain.mine(2 * OVERLAP);
    await house.watch();
    expect(await first.cash()).toBe('4.00');
    await house.chain.call('evm_revert', snapshot);
    const { customer: second } = await deposited(6n * USDC);
    await house.chain.mine(3 * OVERLAP);
    await house.watch();
    expect(await statesOf(first)).toEqual(['ORPHANED']);
    expect(await first.cash()).toBe('0.00');
    expect(await house.state()).toMatchObject({ trouble: null, frozen: true });
    const [reason] = await query<{ text: string }>(
      em(),
      sql`select frozen_reason as text from crypto_chain where chain_id = ${CHAIN_ID}`,
    );
    expect(reason?.text).toMatch(
      /^Block \d+ \(0x[0-9a-f]{64}\) left the chain after a deposit of it was credited\.$/,
    );
    const answer = await house.admin.send('{ admin { chains { frozenBlock } } }');
    const chains = pick<{ frozenBlock: number | null }[]>(answer, 'admin', 'chains');
    const lost = chains.flatMap(({ frozenBlock }) => frozenBlock ?? []);
    expect(lost.map((number) => reason?.text.startsWith(`Block ${number} `))).toEqual([true]);
    expect(await statesOf(second)).toEqual(['CONFIRMING']);
    const receipts = await callsOf('eth_getTransactionReceipt', () => house.watch());
    expect(receipts).toEqual([]);
    expect(await second.cash()).toBe('0.00');
    await query(em(), sql`update crypto_chain set frozen_at = null`);
    await house.watch();
    expect(await second.cash()).toBe('6.00');
  });

  it('moves a deposit to its new block, and credits it there once', async () => {
    const snapshot = await house.chain.call('evm_snapshot');
    const { customer, signed } = await deposited(USDC / 2n);
    await house.chain.mine(2 * OVERLAP);
    await house.watch();
    expect(await statesOf(customer)).toEqual(['CONFIRMING']);
    await house.chain.call('evm_revert', snapshot);
    await house.chain.mine(3);
    await house.chain.resend(signed[0]);
    await house.chain.transfer(customer.address, USDC / 2n);
    await house.chain.mine(2 * OVERLAP);
    await house.watch();
    expect(await statesOf(customer)).toEqual(['CREDITED', 'CREDITED']);
    expect(await customer.cash()).toBe('1.00');
    expect(await house.state()).toMatchObject({ trouble: null, frozen: false });
  });
});

describe('a deposit of exactly the minimum', () => {
  it('is credited, and nothing of another address is credited with it', async () => {
    const { customer: dust } = await deposited(USDC - 1n);
    const { customer } = await deposited(USDC);
    await confirm();
    expect(await customer.cash()).toBe('1.00');
    expect(await statesOf(dust)).toEqual(['CONFIRMING']);
    expect(await dust.cash()).toBe('0.00');
  });

  it('does not include a deposit whose receipt is wrong', async () => {
    const { customer } = await deposited(USDC / 2n, USDC / 2n + 1n);
    await house.watch();
    const [, wrong] = await customer.topUps();
    for (const service of [0, 1] as const)
      house.chain.disturb(service, ({ method, params }, answer) =>
        method === 'eth_getTransactionReceipt' && params[0] === wrong?.deposit.txHash
          ? { result: { ...(answer.result as object), status: '0x0' } }
          : answer,
      );
    await confirm();
    expect(await statesOf(customer)).toEqual(['CONFIRMING', 'CONFIRMING']);
    expect(await customer.cash()).toBe('0.00');
    for (const service of [0, 1] as const) house.chain.disturb(service, null);
    await house.watch();
    expect(await customer.cash()).toBe('1.000001');
  });
});

describe('two control planes', () => {
  it('credit a deposit once when they read a chain at the same moment', async () => {
    const { customer } = await deposited(5n * USDC);
    await house.chain.mine(CONFIRMATIONS - 1);
    await Promise.all([house.watch(), house.watch(), house.watch()]);
    await house.watch();
    expect(await statesOf(customer)).toEqual(['CREDITED']);
    expect(await customer.cash()).toBe('5.00');
  });

  it('credit a deposit once when one of them hangs and is replaced', async () => {
    const { customer } = await deposited(5n * USDC);
    await house.chain.mine(CONFIRMATIONS - 1);
    let isReplaced = false;
    house.chain.disturb(0, async (question, answer) => {
      if (question.method !== 'eth_getTransactionReceipt' || isReplaced) return answer;
      isReplaced = true;
      await query(em(), sql`update crypto_chain set claimed_until = now() - interval '1 second'`);
      await house.watch();
      expect(await customer.cash()).toBe('5.00');
      return answer;
    });
    await house.watch();
    expect(isReplaced).toBe(true);
    expect(await house.state()).toMatchObject({ trouble: null, frozen: false });
    expect(await statesOf(customer)).toEqual(['CREDITED']);
    expect(await customer.cash()).toBe('5.00');
  });
});

describe('a deposit to the address of a closed account', () => {
  it('is credited, kept, and shown to administrators', async () => {
    const { customer } = await deposited(5n * USDC);
    await query(
      em(),
      sql`update users set state = 'DELETED' where id in (select user_id from crypto_address
        where address = ${customer.address.toLowerCase()})`,
    );
    await confirm();
    const stuck = `{ admin { topUps(first: 1, stuck: true) { nodes { state credited issue } } } }`;
    expect(pick(await house.admin.send(stuck), 'admin', 'topUps', 'nodes')).toEqual([
      { state: 'CREDITED', credited: '5.00', issue: 'ACCOUNT_NOT_ACTIVE' },
    ]);
  });
});

describe('a reorganisation of a frozen chain', () => {
  it('takes further credits back, keeps the first reason, and credits all again once resumed', async () => {
    const snapshot = await house.chain.call('evm_snapshot');
    const early = await deposited(4n * USDC);
    await house.chain.mine(CONFIRMATIONS);
    const later = await house.chain.call('evm_snapshot');
    const late = await deposited(6n * USDC);
    await confirm();
    await house.chain.call('evm_revert', later);
    await house.chain.mine(2 * OVERLAP);
    await house.watch();
    expect([await early.customer.cash(), await late.customer.cash()]).toEqual(['4.00', '0.00']);
    const reasonOf = () =>
      query(em(), sql`select frozen_reason from crypto_chain where chain_id = ${CHAIN_ID}`);
    const reason = await reasonOf();
    await house.chain.call('evm_revert', snapshot);
    await house.chain.mine(3 * OVERLAP);
    await house.watch();
    expect([await early.customer.cash(), await late.customer.cash()]).toEqual(['0.00', '0.00']);
    expect(await reasonOf()).toEqual(reason);
    for (const signed of [...early.signed, ...late.signed]) await house.chain.resend(signed);
    await confirm();
    expect([await statesOf(early.customer), await statesOf(late.customer)]).toEqual([
      ['CONFIRMING'],
      ['CONFIRMING'],
    ]);
    await query(em(), sql`update crypto_chain set frozen_at = null`);
    await house.watch();
    expect([await early.customer.cash(), await late.customer.cash()]).toEqual(['4.00', '6.00']);
  });
});

describe('a service that is down', () => {
  it('leaves the size of the requested ranges unchanged', async () => {
    await query(em(), sql`update crypto_chain set scan_size = 64 where chain_id = ${CHAIN_ID}`);
    house.chain.disturb(1, () => 503);
    await house.watch();
    expect(await house.state()).toMatchObject({ trouble: 'DOWN', scanSize: 64 });
  });
});
