/** The price of a period: the base price, and a surcharge for each model beyond the included ones. */
import type { Micros } from '@gateway/shared/money';
import type { MicrosText } from '@gateway/shared/records';

/** How long a quote is valid, in ms. */
export const QUOTE_MS = 15 * 60 * 1000;
export const DAY_MS = 24 * 60 * 60 * 1000;

/** The terms of the storefront that determine a price. Amounts are in micro-USD. */
export interface Terms {
  basePrice: Micros;
  includedModels: number;
  extraModelPrice: Micros;
  periodDays: number;
}

/** One stored line of a quote; amounts are decimal strings of micro-USD. */
export interface QuoteLine {
  label: string;
  quantity: number;
  unitPrice: MicrosText;
  amount: MicrosText;
}

/** The lines of a quote for a pool with `modelCount` models; their sum is the total. */
export function linesOf(terms: Terms, modelCount: number): QuoteLine[] {
  const further = Math.max(0, modelCount - terms.includedModels);
  const lines = [
    line(
      `Dedicated pool, ${terms.periodDays} days, ${terms.includedModels} models included`,
      1,
      terms.basePrice,
    ),
  ];
  if (further > 0) lines.push(line('Further model', further, terms.extraModelPrice));
  return lines;
}

/** The sum of lines in micro-USD. */
export function totalOf(lines: readonly QuoteLine[]): Micros {
  return lines.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}

/** The period of `periodDays` days from `startsAt` on. */
export function periodFrom(startsAt: Date, periodDays: number): { startsAt: Date; endsAt: Date } {
  return { startsAt, endsAt: new Date(startsAt.getTime() + periodDays * DAY_MS) };
}

function line(label: string, quantity: number, unitPrice: Micros): QuoteLine {
  const amount = unitPrice * BigInt(quantity);
  return { label, quantity, unitPrice: unitPrice.toString(), amount: amount.toString() };
}
