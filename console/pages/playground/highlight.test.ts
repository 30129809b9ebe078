/** Tests that colours never change code, which comes from a model and may be hostile. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { grammarOf, LANGUAGES } from './grammars.ts';
import { highlighted, partsOf } from './highlight.ts';

/** Pieces that begin and end texts, comments and markup in many languages. */
const PIECES = [
  '"',
  "'",
  '`',
  '/*',
  '*/',
  '//',
  '#',
  '<',
  '>',
  '</script>',
  '<img onerror=x>',
  '${',
  '}',
  '\n',
];

const code = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 8 })), { maxLength: 12 })
  .map((pieces) => pieces.join(''));

describe('coloured code', () => {
  it.each(LANGUAGES)('has the same text as the code in %s, whatever the code is', async (language) => {
    const grammar = await grammarOf(language);
    if (!grammar) throw new Error(`There is no grammar of ${language}.`);
    fc.assert(
      fc.property(code, (text) => {
        expect(
          partsOf(grammar, text)
            .map((part) => part.text)
            .join(''),
        ).toBe(text);
      }),
      { numRuns: 25 },
    );
  });

  it('marks words, texts and notes of a language, also by another name of it', async () => {
    const parts = await highlighted('TS', "const name = 'x'; // why");
    const marked = parts?.filter(({ tone }) => tone !== 'plain').map(({ text, tone }) => [text, tone]);
    expect(marked).toEqual([
      ['const', 'word'],
      ["'x'", 'text'],
      ['// why', 'note'],
    ]);
  });

  it('stays plain in an unknown language, and if it is very long', async () => {
    expect(await highlighted('klingon', 'x')).toBeUndefined();
    expect(await highlighted('constructor', 'x')).toBeUndefined();
    expect(await highlighted('ts', 'x'.repeat(50_001))).toBeUndefined();
  });
});
