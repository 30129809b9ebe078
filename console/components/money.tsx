/**
 * Amounts of money. Every digit is shown; digits after the cents are dimmed. In a column, decimal points
 * align.
 */
import { clsx } from 'clsx';

const FRACTION_DIGITS = 2;

interface Parts {
  sign: '' | '−' | '+';
  whole: string;
  fraction: string;
  rest: string;
}

/** Splits a decimal string in dollars into sign, grouped whole dollars, cents, and further decimals. */
export function partsOf(amount: string, credit = false): Parts {
  const negative = amount.startsWith('-');
  const [whole = '0', decimals = ''] = amount.replace(/^[-+]/, '').split('.');
  const digits = decimals.replace(/0+$/, '').padEnd(FRACTION_DIGITS, '0');
  const zero = !/[1-9]/.test(whole + decimals);
  const plus = credit && !zero ? '+' : '';
  return {
    sign: negative && !zero ? '−' : plus,
    whole: whole.replace(/\B(?=(\d{3})+$)/g, ','),
    fraction: digits.slice(0, FRACTION_DIGITS),
    rest: digits.slice(FRACTION_DIGITS),
  };
}

/** An amount as plain text, such as "$137.00"; for buttons and sentences. */
export function moneyText(amount: string): string {
  const { sign, whole, fraction, rest } = partsOf(amount);
  return `${sign}$${whole}.${fraction}${rest}`;
}

interface MoneyProps {
  /** A decimal string in dollars, as the service sends it. */
  amount: string;
  /** Shows "+" before positive amounts. */
  signed?: boolean;
  /** Number of decimals in the column; invisible digits pad the amount to it. */
  align?: number;
  className?: string;
}

/** One amount in dollars. */
export function Money({ amount, signed = false, align = 0, className }: MoneyProps) {
  const { sign, whole, fraction, rest } = partsOf(amount, signed);
  const padding = Math.max(0, align - FRACTION_DIGITS - rest.length);
  return (
    <span className={clsx('whitespace-nowrap', className)}>
      {sign}
      <span className={clsx(sign !== '+' && 'text-ink-3')}>$</span>
      {whole}.{fraction}
      <span className="text-ink-3">{rest}</span>
      {padding > 0 && (
        <span data-padding="" className="invisible" aria-hidden="true">
          {'0'.repeat(padding)}
        </span>
      )}
    </span>
  );
}

/** The number of decimals that a column of these amounts needs. */
export function decimalsOf(amounts: readonly string[]): number {
  return amounts.reduce(
    (most, amount) => Math.max(most, FRACTION_DIGITS + partsOf(amount).rest.length),
    FRACTION_DIGITS,
  );
}
