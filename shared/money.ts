/** Money in whole micro-USD: parsing, formatting, and the only price formula. */

/** An amount in micro-USD (1 USD = 1,000,000). A bigint, so that no float can be used by mistake. */
export type Micros = bigint;

/** A billing group's ratio in ten-thousandths: 10_000n is 1, 9_000n is 0.9. */
export type Ratio = bigint;

export const MICROS_PER_DOLLAR = 1_000_000n;
export const RATIO_ONE = 10_000n;
/** The largest amount that one API request may name: one million dollars. */
export const AMOUNT_MAX: Micros = 1_000_000n * MICROS_PER_DOLLAR;

const DOLLARS = /^(-?)(\d{1,13})(?:\.(\d{1,6}))?$/;
const RATIO = /^(\d{1,4})(?:\.(\d{1,4}))?$/;

/** The price of one successful request in micro-USD: price × ratio, rounded half up. */
export function chargeFor(price: Micros, ratio: Ratio): Micros {
  return (price * ratio + RATIO_ONE / 2n) / RATIO_ONE;
}

/**
 * Reads a decimal string in dollars ("0.255", at most 6 fraction digits, ASCII digits only). Returns
 * undefined for anything else: exponents, a "+" sign, spaces, digits of other scripts.
 */
export function parseDollars(text: string): Micros | undefined {
  const match = DOLLARS.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '0', fraction = ''] = match;
  const micros = BigInt(whole) * MICROS_PER_DOLLAR + BigInt(fraction.padEnd(6, '0'));
  return sign ? -micros : micros;
}

/** Writes micro-USD as dollars, with two to six fraction digits as needed: 255000n is "0.255". */
export function formatDollars(amount: Micros): string {
  return amount < 0n ? `-${dollarsOf(String(-amount))}` : dollarsOf(String(amount));
}

/** Like `formatDollars`, from the decimal text of a non-negative amount: "255000" is "0.255". */
export function dollarsOf(micros: string): string {
  const digits = micros.padStart(7, '0');
  const cents = digits.length - 4;
  let end = digits.length;
  while (end > cents && digits[end - 1] === '0') end -= 1;
  return `${digits.slice(0, -6)}.${digits.slice(-6, end)}`;
}

/** Reads a ratio such as "0.85" (at most 4 digits before and after the point). Else returns undefined. */
export function parseRatio(text: string): Ratio | undefined {
  const match = RATIO.exec(text);
  if (!match) return undefined;
  const [, whole = '0', fraction = ''] = match;
  return BigInt(whole) * RATIO_ONE + BigInt(fraction.padEnd(4, '0'));
}

/** Writes a ratio without trailing zeros: 9_000n is "0.9", 10_000n is "1". */
export function formatRatio(ratio: Ratio): string {
  const digits = ratio.toString().padStart(5, '0');
  const fraction = digits.slice(-4).replace(/0+$/, '');
  return fraction ? `${digits.slice(0, -4)}.${fraction}` : digits.slice(0, -4);
}
