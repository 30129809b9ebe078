/** The models that are compared, as the address writes them. */
import { formatDollars, parseDollars } from '@gateway/shared/money';

/** Fewest models of a comparison. */
export const COMPARED_MIN = 2;
/** Most models of a comparison: the service writes four replies of a user at once. */
export const COMPARED_MAX = 4;

/** The names in the text of the address, each once; unknown models are left out. */
export function comparedOf(text: string | undefined, known: readonly string[]): string[] {
  const names = [...new Set((text ?? '').split(','))];
  return names.filter((name) => known.includes(name)).slice(0, COMPARED_MAX);
}

/** The models with which a comparison starts: this one and the next ones of the catalog. */
export function firstCompared(model: string | undefined, known: readonly string[]): string[] {
  const names = model === undefined ? known : [model, ...known.filter((name) => name !== model)];
  return names.slice(0, COMPARED_MIN);
}

/** The sum of prices, which are decimal strings in dollars, as such a string. */
export function sumOf(prices: readonly string[]): string {
  return formatDollars(prices.reduce((sum, price) => sum + (parseDollars(price) ?? 0n), 0n));
}
