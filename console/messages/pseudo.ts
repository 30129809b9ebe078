/** A made-up language for tests: accented English, a third longer. Placeholders and marks stay unchanged. */

const ACCENTS: Readonly<Record<string, string>> = { a: 'á', e: 'é', i: 'í', o: 'ó', u: 'ú', n: 'ñ', c: 'ç' };
const KEPT = /(\{\{\w+\}\}|<\/?\w+>)/;
const LETTERS_PER_PAD = 3;

/** Returns the same object with every text in the made-up language. */
export function pseudo(words: object): object {
  return Object.fromEntries(
    Object.entries(words).map(([key, value]) => [
      key,
      typeof value === 'string' ? text(value) : pseudo(value),
    ]),
  );
}

function text(english: string): string {
  const accented = english
    .split(KEPT)
    .map((part) =>
      KEPT.test(part) ? part : part.replace(/[aeiounc]/g, (letter) => ACCENTS[letter] ?? letter),
    )
    .join('');
  return accented + ' ~'.repeat(Math.ceil(english.length / LETTERS_PER_PAD / 2));
}
