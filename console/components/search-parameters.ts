/** Reading search parameters: unknown input becomes a typed value or is left out. */

const TEXT_CHARACTERS_MAX = 200;

/**
 * The text of a parameter, or undefined. Numbers count as text, since a search such as "42" is read as one.
 */
export function textOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text.slice(0, TEXT_CHARACTERS_MAX) : undefined;
}

/** The parameter if it is one of the words, or undefined. */
export function wordOf<Word extends string>(value: unknown, words: readonly Word[]): Word | undefined {
  return words.find((word) => word === value);
}
