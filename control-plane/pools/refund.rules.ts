/** What comes back when a pool is cancelled: the share of each period that is still unused, gift first. */
import type { Micros } from '@gateway/shared/money';

/**
 * What was paid and given for a span of time. Amounts are micro-USD. Days that were added for nothing are not
 * part of it: they neither bring money back that was used, nor are they paid back.
 */
export interface PaidPeriod {
  startsAt: Date;
  /** The end of what was paid for. */
  paidUntil: Date;
  paid: Micros;
  giftGranted: Micros;
}

export interface RefundOf<Period> {
  period: Period;
  /** Cash to give back. */
  cash: Micros;
}

export interface Refund<Period> {
  /** Gift credit to take back from the wallet. */
  gift: Micros;
  cash: Micros;
  periods: RefundOf<Period>[];
}

/** The share of gift credit that belongs to unused time, whether it is still there or not. */
export function giftDue(periods: readonly PaidPeriod[], now: Date): Micros {
  return periods.reduce((sum, period) => sum + unused(period.giftGranted, period, now), 0n);
}

/**
 * Divides what comes back. The gift's unused share goes back as the money does: from `giftFree`, the gift
 * credit that is still there, and what of it was spent is taken off the cash, never below zero.
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

/** Rounded down to a whole micro-dollar. */
function unused(amount: Micros, { startsAt, paidUntil }: PaidPeriod, now: Date): Micros {
  const length = BigInt(paidUntil.getTime() - startsAt.getTime());
  const left = BigInt(paidUntil.getTime() - Math.max(startsAt.getTime(), now.getTime()));
  return length <= 0n || left <= 0n ? 0n : (amount * left) / length;
}
