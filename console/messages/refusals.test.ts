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

const folder = fileURLToPath(new URL('../../control-plane', import.meta.url));

/** The texts of the control plane that follow the code INVALID in its sources, with {} for each value. */
function writtenTexts(): string[] {
  return globSync('**/*.ts', { cwd: folder })
    .filter((name) => !name.endsWith('.test.ts') && !OF_PROGRAMS.test(name))
    .flatMap((name) => {
      const code = readFileSync(`${folder}/${name}`, 'utf8');
      return [...code.matchAll(/'INVALID',\s*(?:'([^']*)'|`([^`]*)`)/g)];
    })
    .map(([, plain, filled = '']) => plain ?? filled.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '{}'))
    .filter((text) => !KEY_OF_REQUEST.test(text));
}

describe('the text of a refused input', () => {
  test('has a Chinese translation', () => {
    const written = writtenTexts();
    expect(written.length).toBeGreaterThan(70);
    expect(written.filter((text) => !TRANSLATED.includes(text))).toEqual([]);
  });

  test('keeps its values', () => {
    expect(inChinese('Set connect to a value from 1 to 3600000 ms.')).toBe(
      '请将 connect 设为 1 到 3600000 毫秒。',
    );
    expect(inChinese('At most $12.50 of this top-up is left to refund.')).toBe(
      '这笔充值最多还可退还 $12.50。',
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
