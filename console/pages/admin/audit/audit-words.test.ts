/** Tests that the audit log of the console has words for what the control plane writes. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { people } from '../../../messages/en/people.ts';
import { addTexts, translationTo } from '../../../translation.ts';
import { ACTIONS, actorName, TYPES } from './audit-words.ts';

const folder = fileURLToPath(new URL('../../../../control-plane', import.meta.url));
const sources = globSync('**/*.ts', { cwd: folder })
  .filter((name) => !name.endsWith('.test.ts'))
  .map((name) => readFileSync(`${folder}/${name}`, 'utf8'))
  .filter((code) => /audit\((em|inner),/.test(code));

/** The texts in quotes that follow a word on its line. */
function textsAfter(word: string): string[] {
  const lines = sources.flatMap((code) => code.match(new RegExp(`\\b${word}: [^\n]*`, 'g')) ?? []);
  // A line may go on with other fields.
  const values = lines.map((line) => line.replace(/, \w+: .*/, ''));
  return values.flatMap((value) => [...value.matchAll(/'([\w.-]+)'/g)].map(([, text = '']) => text));
}

test('every action that the control plane audits has words', () => {
  const written = new Set(textsAfter('action'));
  expect(written.size).toBeGreaterThan(40);
  const known = new Set<string>(ACTIONS);
  expect([...written].filter((action) => !known.has(action))).toEqual([]);
});

test('every type of object that the control plane audits has a word', () => {
  const written = new Set(textsAfter('targetType'));
  expect(written.size).toBeGreaterThan(10);
  const known = new Set<string>(TYPES);
  expect([...written].filter((type) => !known.has(type))).toEqual([]);
});

test('an actor has one name: the gateway by its word, others by their label and kind', () => {
  addTexts('en', people);
  const { t } = translationTo('en');
  expect(actorName(t, { kind: 'SYSTEM', label: 'system' })).toBe('the gateway');
  expect(actorName(t, { kind: 'USER', label: 'a@b.example' })).toBe('a@b.example');
  expect(actorName(t, { kind: 'NODE', label: 'north' })).toBe('north (node)');
});
