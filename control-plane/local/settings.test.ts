/** The environment variables of `npm start`. */
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseSettings } from './settings.ts';

const SECRET = 'a'.repeat(32);

describe('the settings of npm start', () => {
  test('have a default for everything', () => {
    expect(parseSettings({})).toEqual({
      dataDir: path.resolve('.gateway'),
      host: '127.0.0.1',
      controlPort: 4000,
      dataPort: 8080,
      demo: 'auto',
    });
  });

  test('treat an empty variable like a missing one', () => {
    expect(parseSettings({ DATABASE_URL: '', CONTROL_PORT: '', DEMO: '' })).toEqual(parseSettings({}));
  });

  test('contain the value of every variable', () => {
    const settings = parseSettings({
      DATABASE_URL: 'postgres://user:word@db/gateway',
      SECRET_KEY: SECRET,
      DATA_DIR: '/data',
      HOST: '0.0.0.0',
      CONTROL_PORT: '0',
      DATA_PORT: '65535',
      PUBLIC_URL: 'https://api.example.com/',
      CONSOLE_URL: 'https://console.example.com',
      DEMO: 'off',
    });
    expect(settings).toEqual({
      databaseUrl: 'postgres://user:word@db/gateway',
      secretKey: SECRET,
      dataDir: '/data',
      host: '0.0.0.0',
      controlPort: 0,
      dataPort: 65_535,
      publicUrl: 'https://api.example.com',
      consoleUrl: 'https://console.example.com',
      demo: 'off',
    });
  });

  test.each([
    [{ CONTROL_PORT: '65536' }, /^CONTROL_PORT must be a port/],
    [{ DATA_PORT: '80a' }, /^DATA_PORT must be a port/],
    [{ DATA_PORT: '-1' }, /^DATA_PORT must be a port/],
    [{ CONTROL_PORT: '5000', DATA_PORT: '5000' }, /CONTROL_PORT and DATA_PORT are both 5000/],
    [
      { DATABASE_URL: 'mysql://db', SECRET_KEY: SECRET },
      /^DATABASE_URL must be an address that starts with postgres:/,
    ],
    [{ DATABASE_URL: 'postgres://db/gateway' }, /^SECRET_KEY is required with DATABASE_URL/],
    [{ SECRET_KEY: 'short' }, /^SECRET_KEY must have at least 32 bytes/],
    [{ PUBLIC_URL: 'api.example.com' }, /^PUBLIC_URL must be an address/],
    [{ CONSOLE_URL: 'ftp://example.com' }, /^CONSOLE_URL must be an address/],
    [{ DEMO: 'on' }, /^DEMO must be auto or off/],
  ])('are refused for %j with the values to set', (environment, message) => {
    expect(() => parseSettings(environment)).toThrow(message);
  });

  test('are refused with one line for every invalid variable', () => {
    const parse = (): unknown => parseSettings({ CONTROL_PORT: 'x', DATA_PORT: 'y', DEMO: 'z' });
    expect(parse).toThrow(/CONTROL_PORT.*\nDATA_PORT.*\nDEMO/);
  });

  test('are refused without repeating a secret', () => {
    const parse = (): unknown =>
      parseSettings({ SECRET_KEY: 'hunter2', DATABASE_URL: 'http://user:hunter2@db' });
    expect(parse).toThrow(expect.not.objectContaining({ message: expect.stringContaining('hunter2') }));
  });
});
