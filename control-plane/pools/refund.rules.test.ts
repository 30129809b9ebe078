/** Property tests of the refund of a cancelled pool, for any periods, remaining gift credit and moment. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS } from './quote.rules.ts';
import { giftDue, refundOf } from './refund.rules.ts';
import type { PaidPeriod } from './refund.rules.ts';

const BOUGHT = Date.UTC(2026, 10, 1);
const amount = fc.bigInt({ min: 0n, max: 1_000_000_000_000n });
const sumOf = (values: readonly bigint[]): bigint => values.reduce((sum, value) => sum + value, 0n);

/** Consecutive periods, as renewals create them, with gaps where the pool had ended. */
const periods: fc.Arbitrary<PaidPeriod[]> = fc
  .array(fc.record({ gapMs: fc.nat(14 * DAY_MS), lengthMs: fc.integer({ min: 1, max: 366 * DAY_MS }) }), {
    minLength: 1,
    maxLength: 5,
  })
  .chain((spans) => fc.tuple(...spans.map((span) => fc.tuple(fc.constant(span), amount, amount))))
  .map((rows) => {
    let at = BOUGHT;
    return rows.map(([{ gapMs, lengthMs }, paid, giftGranted]) => {
      const startsAt = new Date(at + gapMs);
      at = startsAt.getTime() + lengthMs;
      return { startsAt, paidUntil: new Date(at), paid, giftGranted };
    });
  });
const moment = fc.nat(5 * 380 * DAY_MS).map((ms) => new Date(BOUGHT + ms));

describe('a refund', () => {
  it('never exceeds the payment of a period, the due gift or the remaining gift credit', () => {
    fc.assert(
      fc.property(periods, amount, moment, (paid, giftFree, now) => {
        const refund = refundOf(paid, giftFree, now);
        expect(refund.cash).toBe(sumOf(refund.periods.map(({ cash }) => cash)));
        expect(refund.periods.map(({ period }) => period)).toEqual(paid);
        for (const { period, cash } of refund.periods) {
          expect(cash >= 0n && cash <= period.paid).toBe(true);
          if (period.paidUntil <= now) expect(cash).toBe(0n);
        }
        expect(refund.gift >= 0n && refund.gift <= giftFree).toBe(true);
        expect(refund.gift <= giftDue(paid, now)).toBe(true);
      }),
    );
  });

  it('deducts spent gift credit from the cash, down to zero', () => {
    fc.assert(
      fc.property(periods, amount, moment, (paid, giftFree, now) => {
        const due = giftDue(paid, now);
        const share = refundOf(paid, due, now);
        expect(share.gift).toBe(due);
        const { gift, cash } = refundOf(paid, giftFree, now);
        const missing = due - gift;
        expect(cash).toBe(share.cash > missing ? share.cash - missing : 0n);
      }),
    );
  });

  it('decreases with time, from the whole payment before the start to zero at the end', () => {
    fc.assert(
      fc.property(periods, moment, fc.nat(400 * DAY_MS), (paid, now, laterMs) => {
        const all = sumOf(paid.map((period) => period.giftGranted));
        const cashAt = (at: Date): bigint => refundOf(paid, all, at).cash;
        expect(cashAt(new Date(now.getTime() + laterMs)) <= cashAt(now)).toBe(true);
        expect(cashAt(new Date(BOUGHT))).toBe(sumOf(paid.map((period) => period.paid)));
        const last = paid.at(-1)?.paidUntil ?? now;
        expect(refundOf(paid, all, last)).toMatchObject({ cash: 0n, gift: 0n });
      }),
    );
  });

  it('is the unused share of each period, rounded down to a micro-dollar, if no gift was spent', () => {
    fc.assert(
      fc.property(periods, moment, (paid, now) => {
        for (const { period, cash } of refundOf(paid, giftDue(paid, now), now).periods) {
          const { startsAt, paidUntil } = period;
          const left = paidUntil.getTime() - Math.max(now.getTime(), startsAt.getTime());
          const length = BigInt(paidUntil.getTime() - startsAt.getTime());
          const exact = period.paid * BigInt(Math.max(0, left));
          expect(cash * length <= exact && (cash + 1n) * length > exact).toBe(true);
        }
      }),
    );
  });
});
