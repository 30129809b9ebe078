/** Tests of two RPC services as one chain: only what both say counts. */
import { describe, expect, it } from 'vitest';
import type { Block, Receipt, Rpc, TransferLog } from './rpc.client.ts';
import { RpcError } from './rpc.client.ts';
import { ChainError, openPair } from './rpc.pair.ts';
import type { Chain, ChainTrouble } from './rpc.pair.ts';

const NATURE = { chainId: 8453, needsFinality: true };
const FILTER = { tokens: [], recipients: [], from: 1, to: 2 };

const hashOf = (height: number): string => `0x${String(height).padStart(64, '0')}`;
const blockAt = (number: number): Block => ({ number, hash: hashOf(number), parentHash: hashOf(number - 1) });

/** A service with 100 blocks, of which 90 are final. */
function service(change: Partial<Rpc> = {}, { newest = 100, final = 90 } = {}): Rpc {
  return {
    chainId: () => Promise.resolve(8453),
    block: (which) => {
      if (which === 'latest') return Promise.resolve(blockAt(newest));
      if (which === 'finalized') return Promise.resolve(blockAt(final));
      return Promise.resolve(which > newest ? null : blockAt(which));
    },
    transfers: () => Promise.resolve([]),
    receipt: () => Promise.resolve(null),
    decimals: () => Promise.resolve(6),
    close: () => Promise.resolve(),
    ...change,
  };
}

const pair = (one: Rpc, two: Rpc, nature = NATURE): Chain => openPair([one, two], nature);

/** Trouble and message of the error with which the promise rejects. */
async function troubleOf(answer: Promise<unknown>): Promise<{ trouble: ChainTrouble; message: string }> {
  const error: unknown = await answer.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof ChainError)) throw new Error(`No ChainError: ${String(error)}`);
  return { trouble: error.trouble, message: error.message };
}

const transfer = (change: Partial<TransferLog> = {}): TransferLog => ({
  ...{ token: '0x1', from: '0x2', to: '0x3', amount: 5n, txHash: '0xa', logIndex: 0 },
  block: { number: 7, hash: hashOf(7) },
  ...change,
});

describe('the head', () => {
  it('is the newest block that both have, and is final if both call it final', async () => {
    const chain = pair(service(), service({}, { newest: 98, final: 80 }));
    expect(await chain.head()).toEqual({ number: 98, hash: hashOf(98), finalized: 80, isLagging: false });
    const turned = pair(service({}, { newest: 98, final: 80 }), service());
    expect(await turned.head()).toEqual({ number: 98, hash: hashOf(98), finalized: 80, isLagging: false });
  });

  it('has no final height if the chain is trusted without, and -1 if a service knows none', async () => {
    const trusted = { ...NATURE, needsFinality: false };
    expect((await pair(service(), service(), trusted).head()).finalized).toBeNull();
    const none = service();
    const unaware = service({
      block: (which) => (which === 'finalized' ? Promise.resolve(null) : none.block(which)),
    });
    expect((await pair(service(), unaware).head()).finalized).toBe(-1);
  });

  it('lags if one service is more than 50 blocks behind', async () => {
    expect((await pair(service(), service({}, { newest: 50 })).head()).isLagging).toBe(false);
    expect((await pair(service(), service({}, { newest: 49 })).head()).isLagging).toBe(true);
    expect((await pair(service({}, { newest: 49 }), service()).head()).isLagging).toBe(true);
  });

  it('is refused if a service serves another chain, and the message names the service', async () => {
    const other = service({ chainId: () => Promise.resolve(1) });
    expect(await troubleOf(pair(service(), other).head())).toEqual({
      trouble: 'WRONG_CHAIN',
      message: 'RPC service 2 serves chain 1 instead of 8453. Correct its address.',
    });
    expect((await troubleOf(pair(other, service()).head())).message).toMatch(/^RPC service 1 /);
  });

  it('is refused if a service has no newest block, or both differ about it', async () => {
    const empty = service({ block: () => Promise.resolve(null) });
    for (const chain of [pair(empty, service()), pair(service(), empty)])
      expect(await troubleOf(chain.head())).toEqual({
        trouble: 'WRONG',
        message: 'An RPC service has no newest block.',
      });
    const known = service();
    const forked = service({
      block: async (which) => {
        const block = await known.block(which);
        return block && { ...block, hash: hashOf(block.number + 1000) };
      },
    });
    expect(await troubleOf(pair(service(), forked).head())).toEqual({
      trouble: 'DISAGREEMENT',
      message: 'The two RPC services differ about block 100.',
    });
    const short = service({
      block: (which) => (typeof which === 'number' ? Promise.resolve(null) : known.block(which)),
    });
    expect(await troubleOf(pair(short, short).head())).toEqual({
      trouble: 'DISAGREEMENT',
      message: 'The two RPC services differ about the newest block.',
    });
  });
});

describe('the hash of a height', () => {
  it('is the hash that both return, or null beyond the newest block of both', async () => {
    const chain = pair(service(), service());
    expect(await chain.hashAt(42)).toBe(hashOf(42));
    expect(await chain.hashAt(101)).toBeNull();
    expect(await troubleOf(pair(service(), service({}, { newest: 41 })).hashAt(42))).toEqual({
      trouble: 'DISAGREEMENT',
      message: 'The two RPC services differ about block 42.',
    });
  });
});

describe('transfers', () => {
  const [one, two, three] = [
    transfer({ logIndex: 4 }),
    transfer({ logIndex: 5 }),
    transfer({ block: { number: 8, hash: hashOf(8) } }),
  ];
  const sending = (logs: TransferLog[]): Rpc => service({ transfers: () => Promise.resolve(logs) });

  it('are in the order of the chain, whatever order the services return', async () => {
    const chain = pair(sending([three, two, one]), sending([two, one, three]));
    expect(await chain.transfers(FILTER)).toEqual([one, two, three]);
  });

  it.each<[string, TransferLog[]]>([
    ['hides one', [one, two]],
    ['states another amount', [one, two, { ...three, amount: 6n }]],
    ['states another recipient', [one, two, { ...three, to: '0x4' }]],
    ['states another block', [one, two, { ...three, block: { number: 8, hash: hashOf(9) } }]],
  ])('are refused if one service %s', async (_name, logs) => {
    expect(await troubleOf(pair(sending([one, two, three]), sending(logs)).transfers(FILTER))).toEqual({
      trouble: 'DISAGREEMENT',
      message: 'The two RPC services differ about transfers.',
    });
  });
});

describe('a receipt', () => {
  const receipt: Receipt = {
    ...{ txHash: '0xa', succeeded: true, logs: [transfer(), null] },
    block: { number: 7, hash: hashOf(7) },
  };
  const sending = (answer: Receipt | null): Rpc => service({ receipt: () => Promise.resolve(answer) });

  it('is the receipt that both return', async () => {
    expect(await pair(sending(receipt), sending({ ...receipt })).receipt('0xa')).toEqual(receipt);
    expect(await pair(sending(null), sending(null)).receipt('0xa')).toBeNull();
  });

  it.each<[string, Receipt | null]>([
    ['has none', null],
    ['says that it failed', { ...receipt, succeeded: false }],
    ['names another block', { ...receipt, block: { number: 7, hash: hashOf(8) } }],
    ['leaves a log out', { ...receipt, logs: [null] }],
  ])('is refused if one service %s', async (_name, other) => {
    expect(await troubleOf(pair(sending(receipt), sending(other)).receipt('0xa'))).toEqual({
      trouble: 'DISAGREEMENT',
      message: 'The two RPC services differ about a receipt.',
    });
  });
});

describe('a fault of one service', () => {
  const failing = (cause: Error): Rpc => service({ receipt: () => Promise.reject(cause) });

  it('becomes the trouble of the chain, and the message names the service', async () => {
    const fault = new RpcError('RATE_LIMITED', 'It asks for fewer requests.');
    expect(await troubleOf(pair(failing(fault), service()).receipt('0xa'))).toEqual({
      trouble: 'RATE_LIMITED',
      message: 'RPC service 1: It asks for fewer requests.',
    });
    expect(await troubleOf(pair(service(), failing(fault)).receipt('0xa'))).toEqual({
      trouble: 'RATE_LIMITED',
      message: 'RPC service 2: It asks for fewer requests.',
    });
  });

  it('is thrown unchanged if it is an error of this program', async () => {
    const bug = new TypeError('a bug');
    await expect(pair(failing(bug), service()).receipt('0xa')).rejects.toBe(bug);
    await expect(pair(service(), failing(bug)).receipt('0xa')).rejects.toBe(bug);
  });
});
