/** Chinese texts of refused inputs: their form, and that none is missing for what the service answers. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { inChinese, TRANSLATED } from './refusals.ts';

/** Sources that check the input of nodes and scripts. */
const OF_PROGRAMS = new RegExp(
  [
    '^(?:nodes/(?:permit|registration)|wallet/lease|usage/(?:idempotency|settlement)|pools/permit)',
    '^graphql/',
  ].join('|'),
);
const KEY_OF_REQUEST = /idempotency key/;

const root = fileURLToPath(new URL('../..', import.meta.url));
const LITERAL = /'([^']*)'|`([^`]*)`|"([^"]*)"/;
/** A text in the sources: a literal, or several that are joined. */
const TEXT = String.raw`((?:${LITERAL.source})(?:\s*\+\s*(?:${LITERAL.source}))*)`.replaceAll(
  /\((?=\[)/g,
  '(?:',
);
/** The forms in which the sources state the text of a refused input. */
const PLACES = [
  new RegExp(String.raw`'INVALID',\s*${TEXT}`, 'g'),
  new RegExp(String.raw`\binvalid\(\s*${TEXT}`, 'g'),
  new RegExp(
    String.raw`const message =\s*${TEXT};\s*(?:throw|return) new UserFailure\('INVALID', message`,
    'g',
  ),
];
const QUIRK = new RegExp(String.raw`(?:return|:)\s+${TEXT};`, 'g');

/** The texts of refused inputs in the sources of the service, with {} for each value. */
function writtenTexts(): string[] {
  const files = globSync('control-plane/**/*.ts', { cwd: root })
    .filter((name) => !name.endsWith('.test.ts'))
    .filter((name) => !OF_PROGRAMS.test(name.replace('control-plane/', '')));
  const texts = files.flatMap((name) => PLACES.flatMap((place) => textsAt(place, name)));
  const sentences = [...texts, ...textsAt(QUIRK, 'shared/quirks.ts')].filter((text) => text.endsWith('.'));
  return sentences.filter((text) => !KEY_OF_REQUEST.test(text));
}

function textsAt(place: RegExp, name: string): string[] {
  const code = readFileSync(`${root}/${name}`, 'utf8');
  return [...code.matchAll(place)].map(([, text = '']) =>
    [...text.matchAll(new RegExp(LITERAL, 'g'))]
      .map(([, plain, filled, quoted]) => plain ?? quoted ?? withHoles(filled ?? ''))
      .join(''),
  );
}

function withHoles(template: string): string {
  return template.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '{}');
}

describe('the text of a refused input', () => {
  test('has a Chinese translation', () => {
    const written = writtenTexts();
    expect(written.length).toBeGreaterThan(120);
    expect(written).toContain('Enter a largest length from {} to {}.');
    expect(written.filter((text) => !TRANSLATED.includes(text))).toEqual([]);
  });

  test('keeps its values', () => {
    expect(inChinese('Set connect to a value from 1 to 3600000 ms.')).toBe(
      '请将 connect 设为 1 到 3600000 毫秒。',
    );
    expect(inChinese('At most $12.50 of this top-up is left to refund.')).toBe(
      '这笔充值最多还可退还 $12.50。',
    );
    expect(inChinese('Enter an amount of $5.00 to $500.00.')).toBe('请输入 $5.00 到 $500.00 的金额。');
    expect(inChinese('Row 3: Enter a largest length from 16 to 256.')).toBe(
      '第 3 行：请输入 16 到 256 的最大长度。',
    );
    expect(inChinese('RPC service 2: no answer')).toBe('RPC 服务 2：no answer');
  });

  test('is not translated if it is unknown', () => {
    expect(inChinese('Something else is wrong.')).toBeUndefined();
  });

  test('has as many values in Chinese as in English', () => {
    const count = (text: string): number => text.split('{}').length;
    const different = TRANSLATED.filter((text) => {
      const filled = inChinese(text.replaceAll('{}', '⟨value⟩')) ?? '';
      return filled.split('⟨value⟩').length !== count(text);
    });
    expect(different).toEqual([]);
  });
});
