/** Money: whole micro-US-dollars and the only price formula. */

/** An amount in micro-USD (1 USD = 1,000,000). A bigint, so that a float can never slip in. */
export type Micros = bigint;

/** A billing group's ratio in ten-thousandths: 10_000n is 1, 9_000n is 0.9. */
export type Ratio = bigint;

export const MICROS_PER_DOLLAR = 1_000_000n;
export const RATIO_ONE = 10_000n;
/** The largest amount that a single request of anybody may name: one million dollars. */
export const AMOUNT_MAX: Micros = 1_000_000n * MICROS_PER_DOLLAR;

const DOLLARS = /^(-?)(\d{1,13})(?:\.(\d{1,6}))?$/;
const RATIO = /^(\d{1,4})(?:\.(\d{1,4}))?$/;

/** What one success costs: price × ratio, rounded half up to a whole micro-dollar. */
export function chargeFor(price: Micros, ratio: Ratio): Micros {
  return (price * ratio + RATIO_ONE / 2n) / RATIO_ONE;
}

/**
 * Reads a decimal string in dollars ("0.255", at most 6 fraction digits, ASCII digits only).
 * Returns undefined for everything else: exponents, signs other than "-", spaces, other scripts' digits.
 */
export function parseDollars(text: string): Micros | undefined {
  const match = DOLLARS.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '0', fraction = ''] = match;
  const micros = BigInt(whole) * MICROS_PER_DOLLAR + BigInt(fraction.padEnd(6, '0'));
  return sign ? -micros : micros;
}

/** Writes micro-USD as dollars with at least two fraction digits and no useless zeros: 255000n is "0.255". */
export function formatDollars(amount: Micros): string {
  return amount < 0n ? `-${dollarsOf(String(-amount))}` : dollarsOf(String(amount));
}

/** The same of an amount that is not negative, from its decimal text: "255000" is "0.255". */
export function dollarsOf(micros: string): string {
  const digits = micros.padStart(7, '0');
  const cents = digits.length - 4;
  let end = digits.length;
  while (end > cents && digits[end - 1] === '0') end -= 1;
  return `${digits.slice(0, -6)}.${digits.slice(-6, end)}`;
}

/** Reads a ratio such as "0.85" (at most 4 fraction digits). Returns undefined for everything else. */
export function parseRatio(text: string): Ratio | undefined {
  const match = RATIO.exec(text);
  if (!match) return undefined;
  const [, whole = '0', fraction = ''] = match;
  return BigInt(whole) * RATIO_ONE + BigInt(fraction.padEnd(4, '0'));
}

/** Writes a ratio without useless zeros: 9_000n is "0.9", 10_000n is "1". */
export function formatRatio(ratio: Ratio): string {
  const digits = ratio.toString().padStart(5, '0');
  const fraction = digits.slice(-4).replace(/0+$/, '');
  return fraction ? `${digits.slice(0, -4)}.${fraction}` : digits.slice(0, -4);
}
