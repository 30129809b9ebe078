/** How the texts of the interface are found and filled in. */
import { expect, test } from 'vitest';
import { addTexts, translationTo } from './translation.ts';

addTexts('en', { keys: { weekOf_one: '{{count}} request', weekOf_other: '{{count}} requests' } });
addTexts('en', { keys: { menu: 'Actions for {{name}}', undo: 'Undo' } });
addTexts('zh-CN', { keys: { weekOf_other: '{{count}} 次请求', menu: '“{{name}}”的操作' } });

test('placeholders are filled with values as they are; one without a value is empty', () => {
  const { t } = translationTo('en');
  expect(t('keys.menu', { name: '<b>$& {{name}}</b>' })).toBe('Actions for <b>$& {{name}}</b>');
  expect(t('keys.menu')).toBe('Actions for ');
});

test('the count chooses the plural of the language', () => {
  const english = translationTo('en');
  expect(english.t('keys.weekOf', { count: 1 })).toBe('1 request');
  expect(english.t('keys.weekOf', { count: 0 })).toBe('0 requests');
  expect(translationTo('zh-CN').t('keys.weekOf', { count: 1 })).toBe('1 次请求');
});

test('large numbers in texts have groups of digits', () => {
  expect(translationTo('en').t('keys.weekOf', { count: 12_345 })).toBe('12,345 requests');
});

test('a text that a language does not have is shown in English', () => {
  expect(translationTo('zh-CN').t('keys.menu', { name: 'CI' })).toBe('“CI”的操作');
  expect(translationTo('zh-CN').t('keys.undo')).toBe('Undo');
});
