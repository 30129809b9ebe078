/** What a cancelled pool brings back, for any periods, any gift that is left, and any moment. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS } from './quote.rules.ts';
import { giftDue, refundOf } from './refund.rules.ts';
import type { PaidPeriod } from './refund.rules.ts';

const BOUGHT = Date.UTC(2026, 10, 1);
const amount = fc.bigInt({ min: 0n, max: 1_000_000_000_000n });
const cents = (values: readonly bigint[]): bigint => values.reduce((sum, value) => sum + value, 0n);

/** Periods one behind the other, as renewals make them, with gaps where a pool had ended. */
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
  it('never exceeds what was paid for a period, and takes no gift beyond its share or what is there', () => {
    fc.assert(
      fc.property(periods, amount, moment, (paid, giftFree, now) => {
        const refund = refundOf(paid, giftFree, now);
        expect(refund.cash).toBe(cents(refund.periods.map(({ cash }) => cash)));
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

  it('costs the buyer the same whether the gift was spent or not, down to a refund of nothing', () => {
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

  it('shrinks with time, is whole before the first day and nothing after the last', () => {
    fc.assert(
      fc.property(periods, moment, fc.nat(400 * DAY_MS), (paid, now, laterMs) => {
        const all = cents(paid.map((period) => period.giftGranted));
        const cashAt = (at: Date): bigint => refundOf(paid, all, at).cash;
        expect(cashAt(new Date(now.getTime() + laterMs)) <= cashAt(now)).toBe(true);
        expect(cashAt(new Date(BOUGHT))).toBe(cents(paid.map((period) => period.paid)));
        const last = paid.at(-1)?.paidUntil ?? now;
        expect(refundOf(paid, all, last)).toMatchObject({ cash: 0n, gift: 0n });
      }),
    );
  });

  it('with nothing spent is the unused share of each period to the micro-dollar, rounded down', () => {
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
