/** Builds patterns that find any of many expressions. */

/**
 * A pattern that finds any of the expressions, which are separated by commas, as whole words in any case. A
 * star stands for the rest of a word.
 */
export function anyWord(expressions: string): RegExp {
  const parts = listOf(expressions).map((part) => part.replaceAll('*', '\\w*'));
  return new RegExp(`\\b(?:${parts.join('|')})\\b`, 'i');
}

/** A pattern that finds any of the expressions, which are separated by commas, within Chinese text. */
export function anyPart(expressions: string): RegExp {
  return new RegExp(listOf(expressions).join('|'));
}

function listOf(expressions: string): string[] {
  return expressions.split(',').map((part) => part.trim());
}
