/**
 * Pure rules of the refund for a cancelled pool: the unused share of each period, in gift credit and cash.
 */
import type { Micros } from '@gateway/shared/money';

/**
 * A paid period; amounts are in micro-USD. Days that an administrator added free of charge are not part of
 * it: they are not refunded.
 */
export interface PaidPeriod {
  startsAt: Date;
  /** End of the paid time. */
  paidUntil: Date;
  paid: Micros;
  giftGranted: Micros;
}

/** The refund of one period. */
export interface RefundOf<Period> {
  period: Period;
  /** Cash to refund, in micro-USD. */
  cash: Micros;
}

/** The refund of a pool, in micro-USD. */
export interface Refund<Period> {
  /** Gift credit to debit from the wallet. */
  gift: Micros;
  /** Cash to refund: the sum of `periods`. */
  cash: Micros;
  periods: RefundOf<Period>[];
}

/** Gift credit of the unused time in micro-USD, spent or not. */
export function giftDue(periods: readonly PaidPeriod[], now: Date): Micros {
  return periods.reduce((sum, period) => sum + unused(period.giftGranted, period, now), 0n);
}

/**
 * Computes the refund. The gift of the unused time is debited from `giftFree`, the gift credit left in the
 * wallet; the part that was already spent is deducted from the cash, never below zero.
 */
export function refundOf<Period extends PaidPeriod>(
  periods: readonly Period[],
  giftFree: Micros,
  now: Date,
): Refund<Period> {
  const due = giftDue(periods, now);
  const gift = due < giftFree ? due : giftFree;
  let spent = due - gift;
  const shares = periods.map((period) => {
    const share = unused(period.paid, period, now);
    const off = share < spent ? share : spent;
    spent -= off;
    return { period, cash: share - off };
  });
  return { gift, cash: shares.reduce((sum, { cash }) => sum + cash, 0n), periods: shares };
}

/** The share of the amount for the unused time, rounded down to a whole micro-USD. */
function unused(amount: Micros, { startsAt, paidUntil }: PaidPeriod, now: Date): Micros {
  const length = BigInt(paidUntil.getTime() - startsAt.getTime());
  const left = BigInt(paidUntil.getTime() - Math.max(startsAt.getTime(), now.getTime()));
  return length <= 0n || left <= 0n ? 0n : (amount * left) / length;
}
