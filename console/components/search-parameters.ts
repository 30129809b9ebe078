/** Parses search parameters: returns typed values, or undefined for anything else. */

const TEXT_CHARACTERS_MAX = 200;

/**
 * The text of a parameter, or undefined. Accepts numbers, because the router parses a search for "42" as one.
 */
export function textOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text.slice(0, TEXT_CHARACTERS_MAX) : undefined;
}

/** The parameter if it is one of `words`, otherwise undefined. */
export function wordOf<Word extends string>(value: unknown, words: readonly Word[]): Word | undefined {
  return words.find((word) => word === value);
}
