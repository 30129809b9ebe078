/** Tests reading and merging of prompt templates, which come from the browser's storage or a file. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fits, merged, NAME_CHARACTERS_MAX, TEMPLATES_MAX, templatesOf, textOf } from './templates.ts';

const template = fc.record({
  name: fc
    .string({ minLength: 1, maxLength: NAME_CHARACTERS_MAX })
    .map((name) => name.trim())
    .filter((name) => name !== ''),
  systemPrompt: fc.string(),
  message: fc.string(),
});

describe('prompt templates', () => {
  it('are the same after export and import', () => {
    const some = fc.uniqueArray(template, { selector: ({ name }) => name, maxLength: 10 });
    fc.assert(
      fc.property(some, (templates) => {
        const sorted = merged([], templates);
        expect(templatesOf(textOf(sorted))).toEqual(sorted);
      }),
    );
  });

  it('are not read from other texts, and reading never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => void templatesOf(text)));
    fc.assert(fc.property(fc.json(), (text) => void templatesOf(text)));
    for (const wrong of ['', '{}', '[1]', '[{"name":" "}]', '[{"name":"a","message":1}]', 'null'])
      expect(templatesOf(wrong)).toBeUndefined();
    const many = Array.from({ length: TEMPLATES_MAX + 1 }, (_, index) => ({ name: String(index) }));
    expect(templatesOf(JSON.stringify(many))).toBeUndefined();
  });

  it('replace those of the same name when they are added', () => {
    const old = { name: 'Review', systemPrompt: 'old', message: '' };
    const other = { name: 'Ask', systemPrompt: '', message: 'x' };
    const fresh = { ...old, systemPrompt: 'new' };
    expect(merged([old, other], [fresh])).toEqual([other, fresh]);
  });
});

describe('a list of templates', () => {
  it('is kept only up to its limits of number and size', () => {
    const list = (count: number, message: string) =>
      Array.from({ length: count }, (_, at) => ({ name: `n${at}`, systemPrompt: '', message }));
    expect(fits(list(100, 'x'))).toBe(true);
    expect(fits(list(101, 'x'))).toBe(false);
    expect(fits(list(50, 'x'.repeat(50_000)))).toBe(false);
  });
});
