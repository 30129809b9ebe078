import { expect, it } from 'vitest';
import { checkPassword } from './password.ts';
import { isLeaked } from './leaked.ts';

it('a password on the list is leaked, in any case of its letters', () => {
  expect(['1q2w3e4r5t6y', 'unbelievable', 'UnBelievable'].map(isLeaked)).toEqual([true, true, true]);
});

it('a listed password stays leaked with a few digits and signs around it, or several times over', () => {
  const leaked = ['iloveyou1234!', '123password!!', 'adminadmin123', 'dragondragon'];
  expect(leaked.filter((password) => !isLeaked(password))).toEqual([]);
});

it('several words, and a listed word with much around it, are passwords of their own', () => {
  const own = [
    'tram orchid 41 window',
    'correct horse battery staple',
    'dragon 8836251944',
    '密码可以用中文来写吗',
  ];
  expect(own.filter(isLeaked)).toEqual([]);
});

it('a leaked password is refused by a code of its own', () => {
  expect(() => checkPassword('password1234', 'mara@example.com')).toThrow(
    expect.objectContaining({ code: 'PASSWORD_BREACHED', field: ['input', 'password'] }),
  );
});
