/** Tests of the identities of transfers: kept after a reorganisation, different for equal transfers. */
import { describe, expect, it } from 'vitest';
import type { Address } from './address.rules.ts';
import type { Receipt, TransferLog } from './rpc.client.ts';
import { holds, transfersOf } from './transfers.ts';

const addressOf = (digit: string): Address => `0x${digit.repeat(40)}`;
const [USDC, WIDE, OTHER] = [addressOf('a'), addressOf('b'), addressOf('c')];
const [ALICE, BOB] = [addressOf('1'), addressOf('2')];
const TERMS = { chainId: 8453, decimals: new Map([[USDC, 6] as const, [WIDE, 18] as const]) };
const BLOCK = { number: 7, hash: '0x07' };

const log = (change: Partial<TransferLog> = {}): TransferLog => ({
  ...{ token: USDC, from: BOB, to: ALICE, amount: 5_000_000n, txHash: '0xtx', block: BLOCK, logIndex: 3 },
  ...change,
});
const references = (...logs: TransferLog[]): string[] =>
  transfersOf(logs, TERMS).map(({ reference }) => reference);

describe('a transfer', () => {
  it('is worth one micro-dollar per millionth of the token, whatever its decimals are', () => {
    const [six, wide] = transfersOf([log(), log({ token: WIDE, amount: 7n * 10n ** 18n })], TERMS);
    expect(six).toMatchObject({ units: 5_000_000n, amount: 5_000_000n, place: 0, logIndex: 3, block: BLOCK });
    expect(wide).toMatchObject({ units: 7n * 10n ** 18n, amount: 7_000_000n });
  });

  it('is left out if it is of another token, of zero, or below one micro-dollar', () => {
    expect(references(log({ token: OTHER }))).toEqual([]);
    expect(references(log({ amount: 0n }))).toEqual([]);
    expect(references(log({ token: WIDE, amount: 10n ** 12n - 1n }))).toEqual([]);
    expect(references(log({ token: WIDE, amount: 10n ** 12n }))).toHaveLength(1);
  });

  it('keeps its identity when it is mined again in another block and at another place in the block', () => {
    const again = log({ logIndex: 90, block: { number: 12, hash: '0x0c' } });
    expect(references(again)).toEqual(references(log()));
    expect(references(log())).toEqual([`8453:0xtx:${USDC}:${ALICE}:5000000:0`]);
  });

  it.each<[string, Partial<TransferLog>]>([
    ['transaction', { txHash: '0xother' }],
    ['token', { token: WIDE, amount: 5_000_000_000_000n }],
    ['recipient', { to: BOB }],
    ['amount', { amount: 5_000_001n }],
  ])('has another identity with another %s, and does not count for the place', (_name, change) => {
    const [first, second] = references(log(), log(change));
    expect(first).not.toBe(second);
    expect([first, second].map((reference) => reference?.split(':').at(-1))).toEqual(['0', '0']);
  });

  it('has the next place if it equals another transfer of its transaction, in the order of the chain', () => {
    const logs = [log({ logIndex: 9 }), log({ logIndex: 2 }), log({ logIndex: 5, amount: 1n })];
    expect(transfersOf(logs, TERMS).map(({ place, logIndex }) => [place, logIndex])).toEqual([
      [0, 2],
      [0, 5],
      [1, 9],
    ]);
    const blocks = [log({ block: { number: 9, hash: '0x09' }, logIndex: 0 }), log()];
    expect(transfersOf(blocks, TERMS).map(({ block }) => block.number)).toEqual([7, 9]);
  });
});

describe('a receipt', () => {
  const receipt = (...logs: (TransferLog | null)[]): Receipt => ({
    ...{ txHash: '0xtx', succeeded: true, block: BLOCK },
    logs,
  });
  const [reference = ''] = references(log());
  const second = reference.replace(/0$/, '1');

  it('holds a deposit whose transfer is among its logs, beside logs of other kinds', () => {
    expect(holds(receipt(null, log({ token: OTHER }), log()), reference, TERMS)).toBe(true);
    expect(holds(receipt(log(), log({ logIndex: 4 })), second, TERMS)).toBe(true);
  });

  it('does not hold a deposit with another amount, recipient or place', () => {
    expect(holds(receipt(log({ amount: 4n })), reference, TERMS)).toBe(false);
    expect(holds(receipt(log({ to: BOB })), reference, TERMS)).toBe(false);
    expect(holds(receipt(log()), second, TERMS)).toBe(false);
    expect(holds(receipt(null), reference, TERMS)).toBe(false);
  });
});
