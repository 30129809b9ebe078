/** Bytes that are kept for long share memory with each other alone. */
import { describe, expect, it } from 'vitest';
import { ownBytes } from './own-bytes.ts';

const SLAB_BYTES = 4_096;

describe('kept bytes', () => {
  it('are equal to the slice or the text, and keep at most 4 kB of others', () => {
    for (const text of ['', 'a', 'ä'.repeat(31), 'long '.repeat(1_000), '\u{1F600} \uD800'])
      for (const bytes of [ownBytes(text), ownBytes(Buffer.from(text))]) {
        expect(bytes).toEqual(Buffer.from(text));
        expect(bytes.buffer.byteLength).toBeLessThanOrEqual(Math.max(SLAB_BYTES, bytes.length));
      }
  });

  it('stay the same when others follow', () => {
    const texts = Array.from({ length: 500 }, (_, at) => `${at} `.repeat(at % 60));
    const kept = texts.map((text, at) => ownBytes(at % 2 === 0 ? text : Buffer.from(text)));
    expect(kept.map(String)).toEqual(texts);
  });

  it('are not copied if they are long and fill at least half of their memory', () => {
    const whole = Buffer.alloc(10_000, 7);
    const half = whole.subarray(5_000);
    expect([ownBytes(whole), ownBytes(half)].map(({ byteOffset }) => byteOffset)).toEqual([0, 5_000]);
    expect(ownBytes(half).buffer).toBe(whole.buffer);
    const own = ownBytes(whole.subarray(5_001));
    expect(own).toEqual(Buffer.alloc(4_999, 7));
    expect(own.buffer).not.toBe(whole.buffer);
  });
});
