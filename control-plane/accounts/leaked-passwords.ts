/** Recognises commonly used leaked passwords, which attackers try first. The list is part of a dependency. */
import { dictionary } from '@zxcvbn-ts/language-common';

/** Maximum number of characters around a leaked password. With more, the password is accepted. */
const ADDED_CHARACTERS_MAX = 6;
/** Shorter entries of the list are ignored: long passwords that repeat a short unit would match them. */
const LISTED_CHARACTERS_MIN = 4;
const SURROUNDING_NON_LETTERS = /^[^\p{L}]*|[^\p{L}]*$/gu;
const REPEATED = /^(.+?)\1+$/su;

const listed: ReadonlySet<string> = new Set(dictionary['passwords-common']);

/**
 * Whether the password is one of the 49,000 most used leaked passwords, or repeats one, also with up to six
 * characters before and after it that are not letters. Ignores case.
 */
export function isLeaked(password: string): boolean {
  const lower = password.toLowerCase();
  const inner = lower.replace(SURROUNDING_NON_LETTERS, '');
  const candidates = lower.length - inner.length > ADDED_CHARACTERS_MAX ? [lower] : [lower, inner];
  return candidates.some((candidate) => isListed(candidate) || isListed(unitOf(candidate)));
}

function isListed(word: string): boolean {
  return word.length >= LISTED_CHARACTERS_MIN && listed.has(word);
}

/** The unit that a text repeats, e.g. `abc` of `abcabc`; the text itself if it does not repeat. */
function unitOf(text: string): string {
  return REPEATED.exec(text)?.[1] ?? text;
}
