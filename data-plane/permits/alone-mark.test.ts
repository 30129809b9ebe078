/** The mark on the disk, as the next process reads it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { AloneMark } from './alone-mark.ts';

const folders: string[] = [];
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gateway-mark-'));
  folders.push(path);
  return path;
}
afterEach(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true });
});

test('the next process reads the last mark, and a missing mark is not clear', () => {
  const path = folder();
  expect(new AloneMark(path).saysNotAlone).toBe(false);
  for (const alone of [false, true, false]) {
    new AloneMark(path).write(alone);
    expect(new AloneMark(path).saysNotAlone).toBe(!alone);
  }
});

test.each(['', '{', 'null', '{"alone":0}', '[]'])('a damaged mark (%s) is not clear', (text) => {
  const path = folder();
  writeFileSync(join(path, 'permits.json'), text);
  expect(new AloneMark(path).saysNotAlone).toBe(false);
});

test('an error of the disk is thrown to the caller', () => {
  expect(() => new AloneMark(join(folder(), 'gone')).write(true)).toThrow();
});
