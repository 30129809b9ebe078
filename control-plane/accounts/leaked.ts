/** Passwords on public lists of leaked ones, which attackers try first. The list comes with the service. */
import { dictionary } from '@zxcvbn-ts/language-common';

/** More than this around a listed password is a password of its own. */
const ADDED_CHARACTERS_MAX = 6;
/** A shorter listed one is a word that many good passwords hold. */
const LISTED_CHARACTERS_MIN = 4;
const NO_LETTERS_AROUND = /^[^\p{L}]*|[^\p{L}]*$/gu;
const REPEATED = /^(.+?)\1+$/su;

const listed: ReadonlySet<string> = new Set(dictionary['passwords-common']);

/**
 * Whether the password is one of the 49,000 most used leaked ones, such a one several times over, or with at
 * most six digits and signs around it. Upper and lower case count the same.
 */
export function isLeaked(password: string): boolean {
  const lower = password.toLowerCase();
  const inner = lower.replace(NO_LETTERS_AROUND, '');
  const candidates = lower.length - inner.length > ADDED_CHARACTERS_MAX ? [lower] : [lower, inner];
  return candidates.some((candidate) => isListed(candidate) || isListed(unitOf(candidate)));
}

function isListed(word: string): boolean {
  return word.length >= LISTED_CHARACTERS_MIN && listed.has(word);
}

/** What a text repeats: `abc` of `abcabc`; the text itself where nothing is repeated. */
function unitOf(text: string): string {
  return REPEATED.exec(text)?.[1] ?? text;
}
