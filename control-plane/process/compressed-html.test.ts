/** Compressed HTML when a compression fails. Other cases are in console-files.test.ts. */
import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { CompressedHtml } from './compressed-html.ts';

it('a text whose compression failed is plain, and is compressed at the next request', async () => {
  let calls = 0;
  const br = async (text: string): Promise<Buffer> => {
    calls += 1;
    if (calls === 1) throw new Error('no memory');
    return Buffer.from(`compressed ${text}`);
  };
  const html = new CompressedHtml({ br, gzip: br });
  expect(await html.encoded('a', 'gzip, br')).toBeUndefined();
  for (let time = 0; time < 2; time += 1)
    expect(await html.encoded('a', 'gzip, br')).toEqual({
      encoding: 'br',
      bytes: Buffer.from('compressed a'),
    });
  expect(calls).toBe(2);
  expect(String((await html.encoded('b', 'br'))?.bytes)).toBe('compressed b');
});
