/** Lists in sentences, in both languages. */
import { expect, test } from 'vitest';
import { listText } from './list-text.ts';

test('a list has the commas and the last word of its language', () => {
  expect(listText(['text', 'image', 'audio'], 'en')).toBe('text, image, and audio');
  expect(listText(['文本', '图片', '音频'], 'zh-CN')).toBe('文本、图片和音频');
});

test('a Chinese word between Latin words and amounts has spaces', () => {
  expect(listText(['swift $0.60', 'budget $0.03'], 'zh-CN')).toBe('swift $0.60 和 budget $0.03');
});
