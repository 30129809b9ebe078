/** Tests of the pure lease rules: amount of a grant, answer to a shortage, closing. */
import { describe, expect, test } from 'vitest';
import { decideGrant, giftFirst, judgeClosing, judgeShortage, LEASE_OFFLINE_MS } from './lease.rules.ts';

const PRICE = 100n;

const grant = (balance: bigint, want: bigint, waiting = 0n): bigint | undefined =>
  decideGrant({ balance, need: PRICE, want, waiting });

describe('a grant', () => {
  test('lasts a day without contact to the control plane', () => {
    expect(LEASE_OFFLINE_MS).toBe(86_400_000);
  });

  test('is nothing if the balance pays for no request, and one request if it pays for one', () => {
    expect(grant(99n, 1_000n)).toBe(undefined);
    expect(grant(100n, 1_000n)).toBe(100n);
    expect(grant(199n, 1_000n)).toBe(100n);
  });

  test('is one request below a balance of fifty requests, and a tenth of the balance from there on', () => {
    expect(grant(4_999n, 10_000n)).toBe(100n);
    expect(grant(5_000n, 10_000n)).toBe(500n);
    expect(grant(60_000n, 10_000n)).toBe(6_000n);
  });

  test('covers the waiting requests if they cost more than a tenth, up to the balance', () => {
    expect(grant(4_000n, 10_000n, 700n)).toBe(700n);
    expect(grant(4_000n, 10_000n, 50n)).toBe(100n);
    expect(grant(300n, 10_000n, 700n)).toBe(300n);
    expect(grant(60_000n, 10_000n, 7_000n)).toBe(7_000n);
  });

  test('never exceeds `want`, and is always a whole number of requests', () => {
    expect(grant(1_000_000n, 1_000n)).toBe(1_000n);
    expect(grant(1_000_000n, 1_099n)).toBe(1_000n);
    expect(grant(60_770n, 1_000_000n)).toBe(6_000n);
  });
});

describe('a shortage of credit', () => {
  test('makes the node ask again if open leases hold enough', () => {
    expect(judgeShortage({ free: 30n, leased: 70n, need: PRICE })).toBe('ASK_AGAIN');
    expect(judgeShortage({ free: 30n, leased: 69n, need: PRICE })).toBe('NOT_ENOUGH');
  });
});

describe('closing a lease', () => {
  const lease = { journalId: 'j', state: 'ACTIVE', chargeCount: 2, chargeSum: 200n } as const;
  const closing = { journalId: 'j', count: 2, sum: 200n };

  test('is possible only with exactly the settled charges', () => {
    expect(judgeClosing(lease, closing)).toBe('CLOSE');
    expect(judgeClosing({ ...lease, state: 'ORPHANED' }, closing)).toBe('CLOSE');
    expect(judgeClosing(lease, { ...closing, count: 1 })).toBe('TOO_EARLY');
    expect(judgeClosing(lease, { ...closing, sum: 100n })).toBe('TOO_EARLY');
    expect(judgeClosing({ ...lease, chargeCount: 0, chargeSum: 0n }, closing)).toBe('TOO_EARLY');
  });

  test('is UNKNOWN for another journal or a missing lease', () => {
    expect(judgeClosing(undefined, closing)).toBe('UNKNOWN');
    expect(judgeClosing(lease, { ...closing, journalId: 'k' })).toBe('UNKNOWN');
  });

  test('is ENDED for an ended lease, regardless of count and sum', () => {
    expect(judgeClosing({ ...lease, state: 'CLOSED' }, closing)).toBe('ENDED');
    expect(judgeClosing({ ...lease, state: 'CLOSED' }, { ...closing, count: 0, sum: 0n })).toBe('ENDED');
    expect(judgeClosing({ ...lease, state: 'RECLAIMED' }, { ...closing, count: 1 })).toBe('ENDED');
  });
});

test('giftFirst takes gift before cash', () => {
  expect(giftFirst(100n, 30n)).toEqual({ gift: 30n, cash: 70n });
  expect(giftFirst(100n, 100n)).toEqual({ gift: 100n, cash: 0n });
  expect(giftFirst(100n, 300n)).toEqual({ gift: 100n, cash: 0n });
});
