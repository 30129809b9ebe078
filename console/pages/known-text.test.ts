/** Texts for kinds that the service names: a kind without a text shows no key of a text. */
import { expect, test } from 'vitest';
import { connect } from '../messages/en/connect.ts';
import { addTexts, translationTo } from '../translation.ts';
import { knownText } from './known-text.ts';

test('a kind of a newer service has no text', () => {
  addTexts('en', connect);
  const { t } = translationTo('en');
  const kinds: string[] = ['TESTED', 'OF_A_NEWER_SERVICE'];
  const texts = kinds.map((kind) => knownText(t, `connect.hints.${kind as 'TESTED'}`, { value: 'v1' }));
  expect(texts).toEqual(['Tested with v1.', undefined]);
});
