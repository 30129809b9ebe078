/** Cursors decode their own values only, and refuse all others as bad input. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cursorsOf } from './cursors.ts';
import { requestError } from './errors.ts';

const REFUSED = 'BAD_USER_INPUT';

describe('cursors', () => {
  const of = cursorsOf('x', 'BIGINT', 'TIME', 'TEXT', 'INTEGER');
  const refused = requestError(REFUSED, 'This cursor does not belong to this list and order.').message;

  it('decode what they encode', () => {
    const values = ['-5', '2026-11-27 14:05:34.123456+00', 'ü', 7];
    expect(of.decode(of.encode(values))).toEqual(values);
  });

  it('refuse any other values and texts', () => {
    const valid = of.encode(['1', '2026-11-27T00:00:00.000Z', '', 1]);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.json()), (text) => {
        for (const cursor of [text, Buffer.from(text).toString('base64url')])
          if (cursor !== valid) expect(() => of.decode(cursor)).toThrow(refused);
      }),
    );
    for (const time of [
      '2026-02-29 00:00:00+00',
      '2026-01-01 24:00:00+00',
      'infinity',
      '0000-01-01 00:00:00Z',
    ])
      expect(() => of.decode(of.encode([1, time, '', 1]))).toThrow(refused);
    for (const number of [1.5, 2 ** 31, 'NaN', '1e3', null])
      expect(() => of.decode(of.encode([1, '2026-11-27 00:00:00+00', '', number]))).toThrow(refused);
  });
});
