/** The words of a refused input: they are shown also if the translations cannot be loaded. */
import { afterEach, expect, test, vi } from 'vitest';
import { changeLanguage } from '../translation.ts';
import { refusalText } from './refusal-text.ts';

const TEXT = 'Enter a budget above zero.';

afterEach(() => {
  vi.doUnmock('../messages/refusals.ts');
  changeLanguage('en');
});

test('without its translations, a Chinese console shows the English text of a refusal', async () => {
  changeLanguage('zh-CN');
  vi.doMock('../messages/refusals.ts', () => {
    throw new Error('The chunk cannot be loaded.');
  });
  expect(await refusalText(TEXT)).toBe(TEXT);
});

test('a Chinese console shows a refusal in Chinese, and unknown texts unchanged', async () => {
  changeLanguage('zh-CN');
  expect(await refusalText(TEXT)).toBe('请输入大于零的预算。');
  expect(await refusalText('Something else is wrong.')).toBe('Something else is wrong.');
});
