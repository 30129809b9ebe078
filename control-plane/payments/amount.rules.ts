/** Amounts of payments: whole cents within the limits, and the processor's cents in micro-USD. */
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import { UserFailure } from '../graphql/errors.ts';

/** Micro-USD of one cent. */
export const MICROS_PER_CENT = 10_000n;
/** The only currency, as the processor writes it. */
export const CURRENCY = 'usd';

/** The limits of top-ups, in micro-USD. */
export interface AmountLimits {
  amountMin: Micros;
  amountMax: Micros;
  /** Largest sum of the top-ups of one user within 24 hours. */
  dailyMax: Micros;
}

/** The amount in whole cents. Throws INVALID for zero, negative and fractional cents. */
export function checkCents(amount: Micros, field: string): Micros {
  if (amount > 0n && amount % MICROS_PER_CENT === 0n) return amount;
  throw new UserFailure('INVALID', 'Enter a positive amount in whole cents, such as 25 or 9.99.', field);
}

/**
 * The amount of a new top-up; `today` is the sum of the user's top-ups within 24 hours. Throws INVALID
 * outside the limits of a top-up, and LIMIT_REACHED beyond the sum of a day.
 */
export function checkTopUpAmount(amount: Micros, limits: AmountLimits, today: Micros): Micros {
  checkCents(amount, 'amount');
  const { amountMin, amountMax, dailyMax } = limits;
  if (amount < amountMin || amount > amountMax) {
    const range = `$${formatDollars(amountMin)} to $${formatDollars(amountMax)}`;
    throw new UserFailure('INVALID', `Enter an amount of ${range}.`, 'amount');
  }
  if (today + amount <= dailyMax) return amount;
  const left = today < dailyMax ? dailyMax - today : 0n;
  const message = `At most $${formatDollars(dailyMax)} can be paid in within 24 hours`;
  throw new UserFailure('LIMIT_REACHED', `${message}; $${formatDollars(left)} is left.`, 'amount');
}

/** Whether a top-up of this amount is within the limits; `today` as for `checkTopUpAmount`. */
export function isWithinLimits(
  amount: Micros,
  { amountMin, amountMax, dailyMax }: AmountLimits,
  today: Micros,
): boolean {
  return amount >= amountMin && amount <= amountMax && today + amount <= dailyMax;
}

/** The processor's whole cents of an amount. Throws an Error for fractional cents, which is a bug. */
export function centsOf(amount: Micros): number {
  if (amount % MICROS_PER_CENT !== 0n) throw new Error(`${amount} micro-USD are not whole cents.`);
  return Number(amount / MICROS_PER_CENT);
}

/** Micro-USD of the processor's cents; null for anything but a positive safe integer. */
export function microsOf(cents: unknown): Micros | null {
  if (typeof cents !== 'number' || !Number.isSafeInteger(cents) || cents <= 0) return null;
  return BigInt(cents) * MICROS_PER_CENT;
}
