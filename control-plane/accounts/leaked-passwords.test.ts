/** Tests which passwords count as leaked. */
import { describe, expect, it } from 'vitest';
import { checkPassword } from './password.ts';
import { isLeaked } from './leaked-passwords.ts';

describe('isLeaked', () => {
  it('recognises a listed password in upper and lower case', () => {
    expect(['1q2w3e4r5t6y', 'unbelievable', 'UnBelievable'].map(isLeaked)).toEqual([true, true, true]);
  });

  it('recognises a listed password that is repeated or has a few digits and symbols around it', () => {
    const leaked = ['iloveyou1234!', '123password!!', 'adminadmin123', 'dragondragon'];
    expect(leaked.filter((password) => !isLeaked(password))).toEqual([]);
  });

  it('accepts several words, and a listed word with many characters around it', () => {
    const own = [
      'tram orchid 41 window',
      'correct horse battery staple',
      'dragon 8836251944',
      '密码可以用中文来写吗',
    ];
    expect(own.filter(isLeaked)).toEqual([]);
  });
});

describe('checkPassword', () => {
  it('refuses a leaked password with PASSWORD_BREACHED', () => {
    expect(() => checkPassword('password1234', 'mara@example.com')).toThrow(
      expect.objectContaining({ code: 'PASSWORD_BREACHED', field: ['input', 'password'] }),
    );
  });
});
