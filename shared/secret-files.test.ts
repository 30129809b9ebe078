/** Secrets come from variables or from files that variables name. */
import { describe, expect, it } from 'vitest';
import { SECRET_VARIABLES, withSecretFiles } from './secret-files.ts';

const FILES: Record<string, string> = { '/run/key': 'of many bytes\n', '/run/empty': '\n' };
const read = (path: string): string => {
  const text = FILES[path];
  if (text === undefined) throw new Error('ENOENT');
  return text;
};

describe('a secret', () => {
  it.each(SECRET_VARIABLES)('%s is read from the file of its _FILE variable, without line end', (name) => {
    const environment = withSecretFiles({ [`${name}_FILE`]: '/run/key', HOST: '::' }, read);
    expect(environment).toEqual({ [name]: 'of many bytes', HOST: '::' });
  });

  it('is unchanged if its variable is set, and other variables with _FILE are not read', () => {
    const given = { NODE_TOKEN: ' a\n', NODE_TOKEN_FILE: '', SSL_CERT_FILE: '/run/none' };
    expect(withSecretFiles(given, read)).toEqual(given);
  });

  it.each([
    ['is set twice', { NODE_TOKEN: 'a', NODE_TOKEN_FILE: '/run/key' }, /NODE_TOKEN and NODE_TOKEN_FILE/],
    ['has no readable file', { NODE_TOKEN_FILE: '/run/none' }, /NODE_TOKEN_FILE: the file \/run\/none/],
    ['has an empty file', { NODE_TOKEN_FILE: '/run/empty' }, /is empty/],
  ])('is refused with its name if it %s', (_case, environment, message) => {
    expect(() => withSecretFiles(environment, read)).toThrow(message);
  });
});
