/** Property tests of the uptime rules. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CUSTOMERS_MIN,
  customersIn,
  firstDay,
  meanUptime,
  REQUESTS_MIN,
  shareText,
  UPTIME_DAYS,
  uptimeOf,
  uptimeOfDays,
} from './uptime.rules.ts';
import type { UptimeCounts, UptimeDay } from './uptime.rules.ts';

const DAY_MS = 86_400_000;
const count = fc.nat({ max: 100_000 });
const bits = fc.uniqueArray(fc.nat({ max: 63 }), { maxLength: 64 });
const setOf = (of: readonly number[]): bigint =>
  BigInt.asIntN(
    64,
    of.reduce((set, bit) => set | (1n << BigInt(bit)), 0n),
  );
const anyCounts: fc.Arbitrary<UptimeCounts> = fc.record({
  served: count,
  failed: count,
  customers: bits.map(setOf),
  checksUp: count,
  checksDown: count,
});
const now = fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true });

describe('a set of customers', () => {
  it('has as many customers as bits, also if its highest bit makes it negative in the database', () => {
    fc.assert(
      fc.property(bits, (of) => {
        expect(customersIn(setOf(of))).toBe(of.length);
      }),
    );
  });
});

describe('the uptime of a day', () => {
  it('is a share between 0 and 1, or null', () => {
    fc.assert(
      fc.property(anyCounts, (counts) => {
        const share = uptimeOf(counts);
        if (share !== null) expect(share >= 0 && share <= 1).toBe(true);
      }),
    );
  });

  it('shows nothing of requests below the minimum of requests or customers', () => {
    const few = fc.oneof(
      fc.record({ served: fc.nat({ max: 9 }), failed: fc.nat({ max: 9 }), customers: bits }),
      fc.record({
        served: count,
        failed: count,
        customers: fc.uniqueArray(fc.nat({ max: 63 }), { maxLength: CUSTOMERS_MIN - 1 }),
      }),
    );
    fc.assert(
      fc.property(few, count, count, ({ served, failed, customers }, checksUp, checksDown) => {
        const checks = { checksUp, checksDown };
        const none = { served: 0, failed: 0, customers: 0n };
        expect(uptimeOf({ served, failed, customers: setOf(customers), ...checks })).toBe(
          uptimeOf({ ...none, ...checks }),
        );
      }),
    );
  });

  it('has no data without requests and probes', () => {
    expect(uptimeOf({ served: 0, failed: 0, customers: 0n, checksUp: 0, checksDown: 0 })).toBeNull();
  });

  it('falls with each failed request, and not with probes, once there are enough requests', () => {
    const customers = setOf([0, 1, 2]);
    fc.assert(
      fc.property(count, count, count, (more, failed, checksDown) => {
        const served = REQUESTS_MIN + more;
        const before = uptimeOf({ served, failed, customers, checksUp: 0, checksDown: 0 });
        const after = uptimeOf({ served, failed: failed + 1, customers, checksUp: 0, checksDown });
        expect(after).toBeLessThan(before ?? 0);
      }),
    );
  });

  it('is the share of successful probes without requests', () => {
    const probes = { served: 0, failed: 0, customers: 0n, checksUp: 3, checksDown: 1 };
    expect(uptimeOf(probes)).toBe(0.75);
  });
});

describe('the uptime of the last 90 days', () => {
  const hours = fc.array(
    anyCounts.chain((counts) =>
      fc.integer({ min: -5, max: UPTIME_DAYS + 5 }).map((at) => ({ ...counts, at })),
    ),
    { maxLength: 40 },
  );
  const dated = (sums: readonly (UptimeCounts & { at: number })[], at: Date): UptimeDay[] =>
    sums.map((sum) => ({ ...sum, day: new Date(firstDay(at).getTime() + sum.at * DAY_MS) }));

  it('has one entry per day, null exactly where no sums give a share, whatever the order of the sums', () => {
    fc.assert(
      fc.property(hours, now, (sums, at) => {
        const days = uptimeOfDays(dated(sums, at), at);
        expect(days).toHaveLength(UPTIME_DAYS);
        expect(uptimeOfDays(dated(sums.toReversed(), at), at)).toEqual(days);
        const filled = new Set(sums.map((sum) => sum.at));
        days.forEach((share, day) => {
          if (!filled.has(day)) expect(share).toBeNull();
        });
      }),
    );
  });

  it('ends today', () => {
    fc.assert(
      fc.property(now, (at) => {
        const today = [{ ...PROBED, day: new Date(firstDay(at).getTime() + (UPTIME_DAYS - 1) * DAY_MS) }];
        expect(at.getTime() - (today[0]?.day.getTime() ?? 0)).toBeLessThan(DAY_MS);
        expect(uptimeOfDays(today, at).at(-1)).toBe(1);
      }),
    );
  });

  const PROBED: UptimeCounts = { served: 0, failed: 0, customers: 0n, checksUp: 1, checksDown: 0 };

  it('has a mean between its lowest and highest day, and none without data', () => {
    const share = fc.option(fc.double({ min: 0, max: 1, noNaN: true }));
    fc.assert(
      fc.property(fc.array(share, { maxLength: UPTIME_DAYS }), (days) => {
        const known = days.filter((day) => day !== null);
        const mean = meanUptime(days);
        if (known.length === 0) expect(mean).toBeNull();
        else {
          expect(mean).toBeGreaterThanOrEqual(Math.min(...known) - 1e-9);
          expect(mean).toBeLessThanOrEqual(Math.max(...known) + 1e-9);
        }
      }),
    );
  });
});

describe('the text of a share', () => {
  it('is 1.0000 only for a share of exactly 1', () => {
    expect(shareText(1)).toBe('1.0000');
    expect(shareText(0.999_999)).toBe('0.9999');
  });
});
