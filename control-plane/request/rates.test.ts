/** How fast callers may use something. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COUNTED_CALLERS, READING_MS } from '../limits.ts';
import { Rates, spendCpu } from './rates.ts';
import type { Claimant } from './shares.ts';

const LIMITS = {
  anonymous: { perSecond: 10, atOnce: 20 },
  user: { perSecond: 10, atOnce: 20 },
  admin: { perSecond: 20, atOnce: 40 },
  node: { perSecond: 20, atOnce: 40 },
  allAnonymous: { perSecond: 30, atOnce: 50 },
};
const ann: Claimant = { rank: 'user', name: 'usr_ann' };
const stranger = (name: string): Claimant => ({ rank: 'anonymous', name });

/** The number that is granted of 1,000 attempts at the same time. */
const granted = (rates: Rates, claimant: Claimant): number =>
  Array.from({ length: 1000 }, () => rates.take(claimant)).filter(Boolean).length;

describe('the rate of a caller', () => {
  it('never exceeds burst and rate, at any sequence of times', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(500), { maxLength: 300 }), (waits) => {
        let now = 0;
        const rates = new Rates(LIMITS, () => now);
        let count = 0;
        for (const wait of waits) {
          now += wait;
          if (rates.take(ann)) count += 1;
        }
        expect(count).toBeLessThanOrEqual(20 + (now / 1000) * 10);
      }),
    );
  });

  it('is separate: the use of one caller does not reduce the rate of another', () => {
    const rates = new Rates(LIMITS, () => 0);
    expect(granted(rates, ann)).toBe(20);
    expect(granted(rates, { rank: 'user', name: 'usr_bob' })).toBe(20);
  });

  it('is bounded for all anonymous callers together, and takes nothing from users', () => {
    const rates = new Rates(LIMITS, () => 0);
    const all = ['a', 'b', 'c', 'd'].map((name) => granted(rates, stranger(name)));
    expect(all).toEqual([20, 20, 10, 0]);
    expect(granted(rates, ann)).toBe(20);
  });

  it('of a known network neither needs nor uses what strangers share', () => {
    const rates = new Rates(LIMITS, () => 0);
    const known = (name: string): Claimant => ({ ...stranger(name), isKnownNetwork: true });
    for (const name of ['a', 'b', 'c']) granted(rates, known(name));
    expect(granted(rates, stranger('d'))).toBe(20);
    for (const name of ['e', 'f', 'g']) granted(rates, stranger(name));
    expect(granted(rates, known('h'))).toBe(20);
  });

  it('counts CPU time that was used beyond the limit, also of work that fails', () => {
    let now = 0;
    const rates = new Rates(LIMITS, () => now);
    rates.spend(ann, 30);
    expect(rates.has(ann)).toBe(false);
    now += 900;
    expect(rates.has(ann)).toBe(false);
    now += 200;
    expect(rates.has(ann)).toBe(true);
    const work = (): never => {
      const end = process.threadCpuUsage().user + 40_000;
      while (process.threadCpuUsage().user < end);
      throw new Error('refused');
    };
    expect(() => spendCpu(rates, ann, work)).toThrow('refused');
    expect(rates.has(ann)).toBe(false);
  });

  it('is forgotten for the caller that was not seen for longest, above the number of callers', () => {
    const rates = new Rates({ ...LIMITS, allAnonymous: READING_MS.node }, () => 0);
    rates.spend(stranger('first'), 30);
    for (let index = 0; index < COUNTED_CALLERS; index += 1) rates.has(stranger(String(index)));
    expect(rates.has(stranger('first'))).toBe(true);
  });
});
