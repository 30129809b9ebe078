/** Tests of amounts: whole cents, the limits of a top-up and of a day, and the processor's cents. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { centsOf, checkCents, checkTopUpAmount, CURRENCY, isWithinLimits, microsOf } from './amount.rules.ts';

const LIMITS = { amountMin: 5_000_000n, amountMax: 1_000_000_000n, dailyMax: 2_000_000_000n };

describe('checkCents', () => {
  it.each([10_000n, 25_000_000n])('returns %s micro-USD', (amount) => {
    expect(checkCents(amount, 'amount')).toBe(amount);
  });

  it.each([0n, -10_000n, 1n, 25_000_001n])('refuses %s micro-USD, and names the field', (amount) => {
    expect(() => checkCents(amount, 'total')).toThrow(/positive amount in whole cents/);
    expect(() => checkCents(amount, 'total')).toThrow(
      expect.objectContaining({ code: 'INVALID', field: ['input', 'total'] }),
    );
  });
});

describe('isWithinLimits', () => {
  it.each([
    [5_000_000n, 0n, true],
    [4_990_000n, 0n, false],
    [1_000_000_000n, 1_000_000_000n, true],
    [1_000_010_000n, 0n, false],
    [1_000_000_000n, 1_000_010_000n, false],
  ])(
    'has for %s, if %s was paid in today, the same answer as checkTopUpAmount: %s',
    (amount, today, isWithin) => {
      expect(isWithinLimits(amount, LIMITS, today)).toBe(isWithin);
      const check = () => checkTopUpAmount(amount, LIMITS, today);
      if (isWithin) expect(check()).toBe(amount);
      else expect(check).toThrow();
    },
  );
});

describe('checkTopUpAmount', () => {
  it.each([
    [5_000_000n, 0n],
    [1_000_000_000n, 0n],
    [1_000_000_000n, 1_000_000_000n],
  ])('returns %s if %s was paid in today', (amount, today) => {
    expect(checkTopUpAmount(amount, LIMITS, today)).toBe(amount);
  });

  it.each([4_990_000n, 1_000_010_000n])('refuses %s outside the limits of a top-up', (amount) => {
    expect(() => checkTopUpAmount(amount, LIMITS, 0n)).toThrow('Enter an amount of $5.00 to $1000.00.');
    expect(() => checkTopUpAmount(amount, LIMITS, 0n)).toThrow(
      expect.objectContaining({ code: 'INVALID', field: ['input', 'amount'] }),
    );
  });

  it.each([
    [1_000_010_000n, 'At most $2000.00 can be paid in within 24 hours; $999.99 is left.'],
    [2_000_000_000n, 'At most $2000.00 can be paid in within 24 hours; $0.00 is left.'],
    [9_000_000_000n, 'At most $2000.00 can be paid in within 24 hours; $0.00 is left.'],
  ])('refuses more than the sum of a day after %s', (today, message) => {
    expect(() => checkTopUpAmount(1_000_000_000n, LIMITS, today)).toThrow(message);
    expect(() => checkTopUpAmount(1_000_000_000n, LIMITS, today)).toThrow(
      expect.objectContaining({ code: 'LIMIT_REACHED', field: ['input', 'amount'] }),
    );
  });

  it('refuses fractional cents within the limits', () => {
    expect(() => checkTopUpAmount(5_000_001n, LIMITS, 0n)).toThrow(
      expect.objectContaining({ code: 'INVALID', field: ['input', 'amount'] }),
    );
  });
});

describe("the processor's cents", () => {
  it('are the same amount in both directions', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (cents) => {
        expect(centsOf(microsOf(cents) ?? 0n)).toBe(cents);
      }),
    );
    expect(microsOf(2500)).toBe(25_000_000n);
    expect(CURRENCY).toBe('usd');
  });

  it.each([0, -1, 0.5, Number.NaN, 2 ** 53, '2500', null, undefined, {}, 5n])(
    'are null for row %#',
    (value) => {
      expect(microsOf(value)).toBeNull();
    },
  );

  it('are never a part of a cent', () => {
    expect(() => centsOf(10_001n)).toThrow('10001 micro-USD are not whole cents.');
  });
});
