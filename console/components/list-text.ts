/** Lists in sentences. */

/** The Chinese "and" between two Latin words or numbers. */
const AND_BETWEEN = /(?<=[\w.%)])和(?=[\w$])/g;

/**
 * The words as a list in this language, such as "a, b, and c". The Chinese "and" has spaces between two Latin
 * words.
 */
export function listText(words: readonly string[], language: string): string {
  return new Intl.ListFormat(language).format(words).replaceAll(AND_BETWEEN, ' 和 ');
}
