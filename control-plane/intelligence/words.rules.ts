/** Splits texts into words for comparing and ranking: stems of English words, pairs of Chinese characters. */
import { stemmer } from 'stemmer';

/** Words that say nothing about a text. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a an the and or but if then than so as at by for from in into of off on onto out over to up with',
    'without about after again before between during through under until while is am are was were be been',
    'being do does did doing have has had having i me my mine myself we us our ours you your yours he him',
    'his she her hers it its they them their theirs this that these those who whom which what when where',
    'why how not no nor only own same too very can could will would shall should may might must',
    'just also there here some any all each few more most other such s t re ve ll d m user users',
  ].flatMap((line) => line.split(' ')),
);
const RUNS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+|[\p{L}\p{N}]+/gu;
const CHINESE = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Words of a text that count; later ones are ignored. */
const WORDS_MAX = 4_000;

/** The words of a text in order, with repetitions, without stop words. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [run] of text.normalize('NFKC').toLowerCase().matchAll(RUNS)) {
    if (words.length >= WORDS_MAX) break;
    if (CHINESE.test(run)) words.push(...pairsOf(run));
    else if (!STOP_WORDS.has(run)) words.push(stemmer(run));
  }
  return words;
}

/** How often each word occurs. */
export function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** The share of the words of `text` that any of the sets holds, from 0 to 1; 0 for a text without words. */
export function shareFound(text: string, sources: readonly ReadonlySet<string>[]): number {
  const wanted = new Set(wordsOf(text));
  const found = [...wanted].filter((word) => sources.some((source) => source.has(word)));
  return wanted.size === 0 ? 0 : found.length / wanted.size;
}

/** How similar two sets are: the size of what they share, divided by the size of both, from 0 to 1. */
export function similarity<T>(left: ReadonlySet<T>, right: ReadonlySet<T>): number {
  const shared = [...left].filter((item) => right.has(item)).length;
  return shared === 0 ? 0 : shared / (left.size + right.size - shared);
}

/** A text in the form in which equal texts are found: case, punctuation and spaces do not count. */
export function normalised(text: string): string {
  return [...text.normalize('NFKC').toLowerCase().matchAll(RUNS)].join(' ');
}

/** Chinese has no spaces: each pair of neighbours is a word, and a single character by itself. */
function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}
