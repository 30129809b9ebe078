/** The uptime clock advances no faster than time when many processes advance it. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { query, queryOne, sql } from './sql.ts';
import { UptimeClock } from './uptime-clock.ts';

const MINUTE_MS = 60_000;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

const setTo = (ms: number) => query(money.em(), sql`update control_watch set ms = ${ms}::bigint`);
const stored = async (): Promise<number> => {
  const row = await queryOne<{ ms: string }>(money.em(), sql`select watched_ms()::text as ms`);
  return Number(row?.ms);
};
beforeEach(() => setTo(0));

/** A process whose monotonic clock the test moves. */
function processAt(start: number): { clock: UptimeClock; pass(ms: number): void } {
  let now = start;
  return { clock: new UptimeClock(() => now), pass: (ms) => void (now += ms) };
}

describe('the uptime clock', () => {
  it('advances by the time between two calls, and by nothing before the first', async () => {
    const { clock, pass } = processAt(5 * MINUTE_MS);
    expect(await clock.advance(money.em())).toBe(0);
    pass(10_000);
    expect(await clock.advance(money.em())).toBe(10_000);
    pass(0.9);
    expect(await clock.advance(money.em())).toBe(10_000);
    pass(7_000);
    expect(await clock.advance(money.em())).toBe(17_000);
    expect(await stored()).toBe(17_000);
  });

  it('continues after a restart without the time in between', async () => {
    const first = processAt(0);
    await first.clock.advance(money.em());
    first.pass(30_000);
    await first.clock.advance(money.em());
    const second = processAt(1e12);
    expect(await second.clock.advance(money.em())).toBe(30_000);
    second.pass(10_000);
    expect(await second.clock.advance(money.em())).toBe(40_000);
  });

  it('advances by at most a minute after a pause of the process or the database', async () => {
    const { clock, pass } = processAt(0);
    await clock.advance(money.em());
    pass(30 * 60 * MINUTE_MS);
    expect(await clock.advance(money.em())).toBe(MINUTE_MS);
  });

  it('continues from the lower value of a restored database', async () => {
    const { clock, pass } = processAt(0);
    await setTo(90 * MINUTE_MS);
    await clock.advance(money.em());
    await setTo(10 * MINUTE_MS);
    pass(10_000);
    expect(await clock.advance(money.em())).toBe(10 * MINUTE_MS);
    pass(10_000);
    expect(await clock.advance(money.em())).toBe(10 * MINUTE_MS + 10_000);
  });

  it('never exceeds the elapsed time and never goes back, with several control planes', async () => {
    const steps = fc.array(fc.record({ who: fc.nat(2), ms: fc.nat(90_000) }), {
      minLength: 1,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(steps, async (calls) => {
        await setTo(0);
        const all = [0, 1e9, 5].map(processAt);
        let passed = 0;
        let before = 0;
        for (const { who, ms } of calls) {
          for (const each of all) each.pass(ms);
          passed += ms;
          const after = (await all[who]?.clock.advance(money.em())) ?? -1;
          expect(after).toBeGreaterThanOrEqual(before);
          expect(after).toBeLessThanOrEqual(passed);
          before = after;
        }
      }),
      { numRuns: 50 },
    );
    // Long enough to shrink a failing example.
  }, 120_000);

  it('loses no time when several control planes advance it in turn', async () => {
    const all = [processAt(0), processAt(1e9)];
    for (const { clock } of all) await clock.advance(money.em());
    for (let at = 0; at < 20; at += 1) {
      for (const each of all) each.pass(10_000);
      await all[at % 2]?.clock.advance(money.em());
    }
    expect(await stored()).toBe(200_000);
  });
});
