/** What the mark on the disk says of a process that is gone. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { AloneMark } from './marker.ts';

const folders: string[] = [];
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gateway-mark-'));
  folders.push(path);
  return path;
}
afterEach(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true });
});

test('the next process reads what the last one wrote, and without a word it is not clear', () => {
  const path = folder();
  expect(new AloneMark(path).isClear).toBe(false);
  for (const alone of [false, true, false]) {
    new AloneMark(path).write(alone);
    expect(new AloneMark(path).isClear).toBe(!alone);
  }
});

test.each(['', '{', 'null', '{"alone":0}', '[]'])('a damaged mark (%s) is not clear', (text) => {
  const path = folder();
  writeFileSync(join(path, 'permits.json'), text);
  expect(new AloneMark(path).isClear).toBe(false);
});

test('a disk that refuses is told to the caller', () => {
  expect(() => new AloneMark(join(folder(), 'gone')).write(true)).toThrow();
});
