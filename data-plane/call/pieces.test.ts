/** Bodies in pieces have the same bytes as in one buffer. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Gathered } from './gathered.ts';
import { Pieces, withoutShort } from './pieces.ts';

/** Bytes that differ from their neighbours, in pieces of these lengths. */
function pieces(lengths: readonly number[]): Buffer[] {
  let next = 0;
  return lengths.map((length) => Buffer.from(Array.from({ length }, () => (next += 1) % 251)));
}

const lengths = fc.array(fc.nat(40), { maxLength: 8 });
const chunkLengths = fc.array(
  fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 20_000 }), fc.constant(65_536)),
  { minLength: 1, maxLength: 30 },
);

describe('pieces', () => {
  it('have the bytes of one buffer, as a whole and in each range', () => {
    fc.assert(
      fc.property(lengths, fc.nat(330), fc.nat(330), (given, from, to) => {
        const list = pieces(given);
        const whole = Buffer.concat(list);
        const body = new Pieces(list);
        const target = Buffer.alloc(whole.length + 7);
        body.copyTo(target, 7);
        expect(target.subarray(7).equals(whole)).toBe(true);
        expect(body.length).toBe(whole.length);
        const expected = whole.subarray(Math.min(from, to), to);
        expect(body.slice(from, to).equals(expected)).toBe(true);
        expect(Buffer.concat(body.range(from, to)).equals(expected)).toBe(true);
        expect(Buffer.concat([...body]).equals(whole)).toBe(true);
        expect(body.whole().equals(whole)).toBe(true);
        expect(body.slice(from, to).equals(expected)).toBe(true);
      }),
    );
  });

  it('are joined where they are short, in their order', () => {
    const list = pieces([10, 0, 20, 5_000, 9, 6_000, 5_000, 1]);
    const joined = withoutShort(list);
    expect(joined.map(({ length }) => length)).toEqual([30, 5_000, 9, 6_000, 5_000, 1]);
    expect(Buffer.concat(joined).equals(Buffer.concat(list))).toBe(true);
  });
});

describe('a body that is gathered in pieces', () => {
  it('has the bytes of all chunks in their order', () => {
    fc.assert(
      fc.property(chunkLengths, (given) => {
        const chunks = pieces(given);
        const whole = Buffer.concat(chunks);
        const gathered = new Gathered(whole.length);
        for (const chunk of chunks) gathered.append(chunk);
        expect(gathered.pieces().whole().equals(whole)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('never occupies more than it said before, nor much more than what has arrived', () => {
    fc.assert(
      fc.property(chunkLengths, (given) => {
        const gathered = new Gathered(given.reduce((sum, length) => sum + length, 0));
        let arrived = 0;
        for (const length of given) {
          const peak = gathered.peakFor(length);
          gathered.append(Buffer.alloc(length));
          arrived += length;
          expect(gathered.capacity).toBeLessThanOrEqual(peak);
          expect(gathered.capacity).toBeGreaterThanOrEqual(arrived);
          expect(gathered.capacity).toBeLessThanOrEqual(arrived * 2 + 65_536);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('has few pieces when its chunks are small', () => {
    const gathered = new Gathered(200_000);
    for (let sent = 0; sent < 200_000; sent += 1_000) gathered.append(Buffer.alloc(1_000));
    expect([...gathered.pieces()].length).toBeLessThan(6);
  });

  it('keeps large chunks without a copy', () => {
    const chunks = [Buffer.alloc(65_000), Buffer.alloc(60_000)];
    const gathered = new Gathered(125_000);
    for (const chunk of chunks) gathered.append(chunk);
    const kept = [...gathered.pieces()];
    expect(kept.length).toBe(chunks.length);
    expect(kept.every((piece, at) => piece === chunks[at])).toBe(true);
    expect(gathered.capacity).toBe(0);
  });

  it('occupies nothing once it is cleared', () => {
    const gathered = new Gathered(70_000);
    gathered.append(Buffer.alloc(20_000));
    gathered.append(Buffer.alloc(50));
    gathered.clear();
    expect([gathered.capacity, gathered.pieces().length]).toEqual([0, 0]);
  });
});
