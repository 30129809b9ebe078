/** The texts of the interface are complete in every language, and each text is used. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { buildSchema, isEnumType } from 'graphql';
import { en } from './en.ts';
import { zhCN } from './zh-cn.ts';

/** All texts with the path of their key. */
function textsOf(words: object, path = ''): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [name, value] of Object.entries(words)) {
    if (typeof value === 'string') texts.set(`${path}${name}`, value);
    else for (const [key, text] of textsOf(value, `${path}${name}.`)) texts.set(key, text);
  }
  return texts;
}

const english = textsOf(en);
const chinese = textsOf(zhCN);

test('Chinese has every text, with the same placeholders and marks', () => {
  const expected = [...english].filter(([key]) => !key.endsWith('_one'));
  expect([...chinese.keys()].sort()).toEqual(expected.map(([key]) => key).sort());
  const marksOf = (text = '') =>
    [...text.matchAll(/\{\{\w+\}\}|<\/?\w+>/g)]
      .map(([mark]) => mark)
      .sort()
      .join(' ');
  const different = expected.filter(([key, text]) => marksOf(text) !== marksOf(chinese.get(key)));
  expect(different).toEqual([]);
});

test('every error code of the service has a sentence', () => {
  const path = fileURLToPath(new URL('../../control-plane/schema.graphql', import.meta.url));
  const codes = buildSchema(readFileSync(path, 'utf8')).getType('UserErrorCode');
  const names = isEnumType(codes) ? codes.getValues().map(({ name }) => name) : [];
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !english.has(`errors.${name}`))).toEqual([]);
});

test('at least one page shows each text', () => {
  const here = fileURLToPath(new URL('..', import.meta.url));
  const sources = globSync('{*,components/**/*,pages/**/*}.{ts,tsx}', { cwd: here });
  const code = sources.map((name) => readFileSync(`${here}${name}`, 'utf8')).join('\n');
  const groups = new Set([...code.matchAll(/`(\w+(?:\.\w+)*\.\w*)\$\{/g)].map(([, start = '']) => start));
  // A quoted text may begin where another one ends, so only its first quote is consumed.
  const quoted = new Set([...code.matchAll(/(['"])(?=([\w.-]+)\1)/g)].map(([, , text = '']) => text));
  const unused = [...english.keys()].filter((key) => {
    const name = key.replace(/_(one|other)$/, '');
    return !quoted.has(name) && ![...groups].some((start) => name.startsWith(start));
  });
  expect(unused).toEqual([]);
});
