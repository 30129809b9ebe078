/** Lists in sentences. */

/** A Chinese word between two that are not Chinese. */
const HAN_BETWEEN = /(?<=[\w.%)])(\p{Script=Han})(?=[\w$])/gu;

/** The words as a list in this language, such as "a, b, and c". Chinese gets a space beside Latin words. */
export function listText(words: readonly string[], language: string): string {
  return new Intl.ListFormat(language).format(words).replaceAll(HAN_BETWEEN, ' $1 ');
}
