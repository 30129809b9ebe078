import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newRequestId, timedId } from './timed-id.ts';

const MS = fc.integer({ min: 0, max: 2 ** 48 - 1 });

describe('ids of requests', () => {
  it('are 32 hex characters, of which the first 12 are the time in ms', () => {
    fc.assert(
      fc.property(MS, (now) => {
        expect(timedId(now)).toMatch(/^[0-9a-f]{32}$/);
        expect(Number.parseInt(timedId(now).slice(0, 12), 16)).toBe(now);
      }),
    );
  });

  it('sort by time as text, and after ids of the earlier form', () => {
    fc.assert(
      fc.property(MS, MS, (one, other) => {
        fc.pre(one < other);
        expect(newRequestId(one) < newRequestId(other)).toBe(true);
        expect(newRequestId(one) > 'f'.repeat(32)).toBe(true);
      }),
    );
  });

  it('take the present time by default', () => {
    const before = Date.now();
    const time = Number.parseInt(timedId().slice(0, 12), 16);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now());
  });

  it('of one time differ in 80 random bits, also beyond one fill of the generator', () => {
    const ids = Array.from({ length: 1000 }, () => timedId(0).slice(12));
    expect(new Set(ids).size).toBe(ids.length);
    // A bit that is not random has the same value in all ids. For a random one that is as likely as 2^-999.
    const values = ids.map((id) => BigInt(`0x${id}`));
    const all = values.reduce((sum, value) => sum & value);
    const any = values.reduce((sum, value) => sum | value);
    expect(all).toBe(0n);
    expect(any).toBe(2n ** 80n - 1n);
  });
});
