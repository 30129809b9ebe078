/** Tests of what is credited: receipts, finality, and settings and services that change. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Disturbance } from '../../../test/control/chain.ts';
import { CONFIRMATIONS, openDeposits } from '../../../test/control/deposits.ts';
import type { DepositCustomer, DepositHouse } from '../../../test/control/deposits.ts';
import { query, queryOne, sql } from '../../database/sql.ts';
import { watchChains } from './watcher.ts';

const USDC = 1_000_000n;
/** More blocks than a scan reads again. */
const UNREAD_BLOCKS = 20;
/** Blocks after which anvil calls a block final. */
const FINAL_BLOCKS = 64;

let house: DepositHouse;
beforeAll(async () => {
  house = await openDeposits();
});
afterAll(() => house.close());
afterEach(() => disturb(null));

const em = () => house.test.orm.em.fork();
const statesOf = async (customer: DepositCustomer) => (await customer.topUps()).map(({ state }) => state);

/** Both services lie in the same way. */
function disturb(disturbance: Disturbance | null): void {
  for (const service of [0, 1] as const) house.chain.disturb(service, disturbance);
}

/** A customer with a deposit that was seen. */
async function deposited(dollars: bigint): Promise<{ customer: DepositCustomer }> {
  const customer = await house.customer();
  await house.chain.transfer(customer.address, dollars * USDC);
  await house.watch();
  expect(await statesOf(customer)).toEqual(['SEEN']);
  return { customer };
}

async function confirm(): Promise<void> {
  await house.chain.mine(CONFIRMATIONS - 1);
  await house.watch();
}

describe('a receipt that is read again before the credit', () => {
  const change =
    (members: Record<string, unknown> | null): Disturbance =>
    ({ method }, answer) =>
      method === 'eth_getTransactionReceipt'
        ? { result: members && { ...(answer.result as object), ...members } }
        : answer;

  it.each<[string, Record<string, unknown> | null]>([
    ['is gone', null],
    ['says that the transaction was reverted', { status: '0x0' }],
    ['names another block', { blockHash: `0x${'9'.repeat(64)}` }],
    ['names another height', { blockNumber: '0x1' }],
    ['no longer holds the transfer', { logs: [] }],
  ])('credits nothing until it agrees, if it %s', async (_name, members) => {
    const { customer } = await deposited(3n);
    disturb(change(members));
    await confirm();
    expect(await statesOf(customer)).toEqual(['CONFIRMING']);
    expect((await house.state()).trouble).toBeNull();
    disturb(null);
    await house.watch();
    expect(await customer.cash()).toBe('3.00');
  });

  it('credits nothing if it differs between the services', async () => {
    const { customer } = await deposited(3n);
    house.chain.disturb(0, change({ status: '0x0' }));
    await confirm();
    expect((await house.state()).trouble).toBe('DISAGREEMENT');
    expect(await customer.cash()).toBe('0.00');
  });
});

describe('a deposit that both services report although its block has left the chain', () => {
  /** Both services report the transfer in such a block from now on. Returns it with its transaction. */
  async function stale(): Promise<{ customer: DepositCustomer; raw: unknown }> {
    const customer = await house.customer();
    await house.chain.mine(UNREAD_BLOCKS);
    await house.watch();
    const snapshot = await house.chain.call('evm_snapshot');
    const hash = await house.chain.transfer(customer.address, 8n * USDC);
    const raw = await house.chain.call('eth_getRawTransactionByHash', hash);
    const { logs } = (await house.chain.call('eth_getTransactionReceipt', hash)) as { logs: unknown[] };
    await house.chain.call('evm_revert', snapshot);
    await house.chain.mine(1);
    disturb(({ method }, answer) => (method === 'eth_getLogs' ? { result: logs } : answer));
    await house.watch();
    expect(await statesOf(customer)).toEqual(['SEEN']);
    return { customer, raw };
  }

  it('is orphaned when it is deep enough, and credited when it is mined again', async () => {
    const { customer, raw } = await stale();
    await house.chain.mine(UNREAD_BLOCKS);
    await house.watch();
    expect(await statesOf(customer)).toEqual(['ORPHANED']);
    disturb(null);
    await house.chain.resend(raw);
    await house.watch();
    await confirm();
    expect(await customer.cash()).toBe('8.00');
  });

  it('is credited in the block of its receipt, which no scan reads again', async () => {
    const { customer, raw } = await stale();
    await house.chain.resend(raw);
    await house.chain.mine(UNREAD_BLOCKS);
    await house.watch();
    expect(await customer.cash()).toBe('0.00');
    disturb(null);
    await house.watch();
    expect(await statesOf(customer)).toEqual(['CREDITED']);
    expect(await customer.cash()).toBe('8.00');
  });
});

describe('a transaction', () => {
  it('stops the chain if both services omit it, and its deposit stays open', async () => {
    const { customer } = await deposited(2n);
    disturb(({ method }, answer) => (method === 'eth_getLogs' ? { result: [] } : answer));
    await confirm();
    expect((await house.state()).trouble).toBe('WRONG');
    const { detail } = await troubleOf();
    expect(detail).toMatch(/left out the transfer of transaction 0x/);
    expect(await statesOf(customer)).toEqual(['SEEN']);
    disturb(null);
    await house.watch();
    expect(await customer.cash()).toBe('2.00');
  });
});

describe('a chain that needs finality', () => {
  it('credits a deposit only when its block is final', async () => {
    await house.setChain({ needsFinality: true });
    const { customer } = await deposited(4n);
    await confirm();
    expect(await statesOf(customer)).toEqual(['CONFIRMING']);
    await house.chain.mine(FINAL_BLOCKS - CONFIRMATIONS);
    await house.watch();
    expect(await statesOf(customer)).toEqual(['CONFIRMING']);
    await house.chain.mine(1);
    await house.watch();
    expect(await statesOf(customer)).toEqual(['CREDITED']);
    await house.setChain({ needsFinality: false });
  });
});

describe('a chain that needs one confirmation', () => {
  it('credits a deposit of the newest block at once', async () => {
    await house.setChain({ confirmations: 1 });
    const customer = await house.customer();
    await house.chain.transfer(customer.address, 4n * USDC);
    await house.watch();
    expect(await statesOf(customer)).toEqual(['CREDITED']);
    expect(await customer.cash()).toBe('4.00');
    await house.setChain({ confirmations: CONFIRMATIONS });
  });
});

describe('a watcher', () => {
  it('stores nothing if its chain was changed meanwhile, and the next watcher continues', async () => {
    const { customer } = await deposited(2n);
    await house.chain.mine(CONFIRMATIONS - 1);
    const before = await house.state();
    let changed: Promise<unknown> | undefined;
    disturb(async (question, answer) => {
      if (question.method === 'eth_getLogs') await (changed ??= house.setChain({ name: 'Renamed' }));
      return answer;
    });
    await house.watch();
    await changed;
    expect((await house.state()).trouble).toBeNull();
    expect((await house.state()).cursor).toBeGreaterThanOrEqual(before.cursor);
    disturb(null);
    await house.watch();
    expect(await customer.cash()).toBe('2.00');
  });

  it('logs trouble once, asks for fewer blocks after a refusal, and for more after success', async () => {
    const lines: Record<string, unknown>[] = [];
    const watch = async (): Promise<void> => {
      await query(em(), sql`update crypto_chain set due_at = now()`);
      await watchChains({ em, settings: house.test.settings, log: (line) => void lines.push(line) });
    };
    await house.chain.mine(30);
    const { scanSize } = await house.state();
    disturb((question, answer) =>
      question.method === 'eth_getLogs' ? { error: { code: -32_005, message: 'limit exceeded' } } : answer,
    );
    for (let times = 0; times < 3; times += 1) await watch();
    expect(lines).toEqual([
      { level: 'warn', message: expect.stringMatching(/smaller/), chainId: 31_337, trouble: 'REFUSED' },
    ]);
    expect((await house.state()).scanSize).toBe(Math.floor(scanSize / 8));
    const { failures } = await troubleOf();
    expect(failures).toBe(3);
    disturb(null);
    await query(em(), sql`update crypto_chain set scan_size = 8`);
    await watch();
    expect((await house.state()).scanSize).toBeGreaterThan(8);
    expect(await troubleOf()).toEqual({ detail: null, since: null, failures: 0, isRead: true });
  });

  it('names a service that lags, and reads the blocks of both without counting the pass', async () => {
    await house.chain.mine(80);
    await house.watch();
    const head = await house.chain.head();
    await query(em(), sql`update crypto_chain set read_at = now() - interval '1 hour'`);
    await house.chain.mine(60);
    house.chain.disturb(1, (question, answer) =>
      question.method === 'eth_getBlockByNumber' && question.params[0] === 'latest'
        ? { result: { ...(answer.result as object), number: `0x${head.toString(16)}` } }
        : answer,
    );
    await house.watch();
    expect((await house.state()).trouble).toBe('LAGGING');
    expect(await troubleOf()).toMatchObject({ detail: expect.stringContaining(String(head)), isRead: false });
    const { since } = await troubleOf();
    await house.watch();
    expect((await troubleOf()).since).toBe(since);
    disturb(null);
    await house.watch();
    expect(await troubleOf()).toEqual({ detail: null, since: null, failures: 0, isRead: true });
  });
});

/** The stored trouble, and whether the chain was read within a minute. */
async function troubleOf() {
  const row = await queryOne<{
    detail: string | null;
    since: string | null;
    failures: number;
    isRead: boolean;
  }>(
    em(),
    sql`select trouble_detail as detail, trouble_since::text as since, failures,
      read_at > now() - interval '1 minute' as "isRead" from crypto_chain where chain_id = 31337`,
  );
  if (!row) throw new Error('There is no chain.');
  return row;
}
