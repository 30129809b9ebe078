/** How much a node gets, what it is told when that is nothing, and when a lease may close. */
import { describe, expect, test } from 'vitest';
import { decideGrant, giftFirst, judgeClosing, judgeShortage, LEASE_OFFLINE_MS } from './lease.rules.ts';

const PRICE = 100n;

const grant = (balance: bigint, want: bigint, waiting = 0n): bigint | undefined =>
  decideGrant({ balance, need: PRICE, want, waiting });

describe('a grant', () => {
  test('lasts a day without a word from the control plane', () => {
    expect(LEASE_OFFLINE_MS).toBe(86_400_000);
  });

  test('is nothing where not even one request can be paid, and exactly one where one can', () => {
    expect(grant(99n, 1_000n)).toBe(undefined);
    expect(grant(100n, 1_000n)).toBe(100n);
    expect(grant(199n, 1_000n)).toBe(100n);
  });

  test('of a small balance is one request, and from fifty on a tenth of it', () => {
    expect(grant(4_999n, 10_000n)).toBe(100n);
    expect(grant(5_000n, 10_000n)).toBe(500n);
    expect(grant(60_000n, 10_000n)).toBe(6_000n);
  });

  test('is what waits where that is more than the tenth, as far as the balance goes', () => {
    expect(grant(4_000n, 10_000n, 700n)).toBe(700n);
    expect(grant(4_000n, 10_000n, 50n)).toBe(100n);
    expect(grant(300n, 10_000n, 700n)).toBe(300n);
    expect(grant(60_000n, 10_000n, 7_000n)).toBe(7_000n);
  });

  test('is never more than was wanted, and always whole requests', () => {
    expect(grant(1_000_000n, 1_000n)).toBe(1_000n);
    expect(grant(1_000_000n, 1_099n)).toBe(1_000n);
    expect(grant(60_770n, 1_000_000n)).toBe(6_000n);
  });
});

describe('a wallet with too little', () => {
  test('is asked again while what open leases hold would do', () => {
    expect(judgeShortage({ free: 30n, parked: 70n, need: PRICE })).toBe('ASK_AGAIN');
    expect(judgeShortage({ free: 30n, parked: 69n, need: PRICE })).toBe('NOT_ENOUGH');
  });
});

describe('the order to close a lease', () => {
  const lease = { journalId: 'j', state: 'ACTIVE', chargeCount: 2, chargeSum: 200n } as const;
  const closing = { journalId: 'j', count: 2, sum: 200n };

  test('is obeyed with exactly the charges that are settled in it', () => {
    expect(judgeClosing(lease, closing)).toBe('CLOSE');
    expect(judgeClosing({ ...lease, state: 'ORPHANED' }, closing)).toBe('CLOSE');
    expect(judgeClosing(lease, { ...closing, count: 1 })).toBe('TOO_EARLY');
    expect(judgeClosing(lease, { ...closing, sum: 100n })).toBe('TOO_EARLY');
    expect(judgeClosing({ ...lease, chargeCount: 0, chargeSum: 0n }, closing)).toBe('TOO_EARLY');
  });

  test('of another journal, or of no lease, is unknown', () => {
    expect(judgeClosing(undefined, closing)).toBe('UNKNOWN');
    expect(judgeClosing(lease, { ...closing, journalId: 'k' })).toBe('UNKNOWN');
  });

  test('is harmless once it has ended', () => {
    expect(judgeClosing({ ...lease, state: 'CLOSED' }, closing)).toBe('ENDED');
    expect(judgeClosing({ ...lease, state: 'CLOSED' }, { ...closing, count: 0, sum: 0n })).toBe('ENDED');
    expect(judgeClosing({ ...lease, state: 'RECLAIMED' }, { ...closing, count: 1 })).toBe('ENDED');
  });
});

test('gift is spent before cash', () => {
  expect(giftFirst(100n, 30n)).toEqual({ gift: 30n, cash: 70n });
  expect(giftFirst(100n, 100n)).toEqual({ gift: 100n, cash: 0n });
  expect(giftFirst(100n, 300n)).toEqual({ gift: 100n, cash: 0n });
});
