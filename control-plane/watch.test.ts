/** The watch goes on no faster than time, whoever moves it, and no wall clock does. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import fc from 'fast-check';
import { openMoney } from '../test/money-fixture.ts';
import type { Money } from '../test/money-fixture.ts';
import { query, queryOne, sql } from './sql.ts';
import { Watch } from './watch.ts';

const MINUTE_MS = 60_000;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

const setTo = (ms: number) => query(money.em(), sql`update control_watch set ms = ${ms}::bigint`);
const shown = async (): Promise<number> => {
  const row = await queryOne<{ ms: string }>(money.em(), sql`select watched_ms()::text as ms`);
  return Number(row?.ms);
};
beforeEach(() => setTo(0));

/** A process whose monotonic clock the test moves. */
function processAt(start: number): { watch: Watch; pass(ms: number): void } {
  let now = start;
  return { watch: new Watch(() => now), pass: (ms) => void (now += ms) };
}

it('counts what passes between two looks, and nothing before the first', async () => {
  const { watch, pass } = processAt(5 * MINUTE_MS);
  expect(await watch.advance(money.em())).toBe(0);
  pass(10_000);
  expect(await watch.advance(money.em())).toBe(10_000);
  pass(0.9);
  expect(await watch.advance(money.em())).toBe(10_000);
  pass(7_000);
  expect(await watch.advance(money.em())).toBe(17_000);
  expect(await shown()).toBe(17_000);
});

it('goes on where it was after a restart, without the time that nobody was there', async () => {
  const first = processAt(0);
  await first.watch.advance(money.em());
  first.pass(30_000);
  await first.watch.advance(money.em());
  const second = processAt(1e12);
  expect(await second.watch.advance(money.em())).toBe(30_000);
  second.pass(10_000);
  expect(await second.watch.advance(money.em())).toBe(40_000);
});

it('counts a minute at most of a stop, of the process or of the database', async () => {
  const { watch, pass } = processAt(0);
  await watch.advance(money.em());
  pass(30 * 60 * MINUTE_MS);
  expect(await watch.advance(money.em())).toBe(MINUTE_MS);
});

it('of a database that was restored it shows what that shows, and goes on from there', async () => {
  const { watch, pass } = processAt(0);
  await setTo(90 * MINUTE_MS);
  await watch.advance(money.em());
  await setTo(10 * MINUTE_MS);
  pass(10_000);
  expect(await watch.advance(money.em())).toBe(10 * MINUTE_MS);
  pass(10_000);
  expect(await watch.advance(money.em())).toBe(10 * MINUTE_MS + 10_000);
});

it('of several control planes it never shows more than has passed, nor goes back', async () => {
  const steps = fc.array(fc.record({ who: fc.nat(2), ms: fc.nat(90_000) }), { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(steps, async (looks) => {
      await setTo(0);
      const all = [0, 1e9, 5].map(processAt);
      let passed = 0;
      let before = 0;
      for (const { who, ms } of looks) {
        for (const each of all) each.pass(ms);
        passed += ms;
        const after = (await all[who]?.watch.advance(money.em())) ?? -1;
        expect(after).toBeGreaterThanOrEqual(before);
        expect(after).toBeLessThanOrEqual(passed);
        before = after;
      }
    }),
    { numRuns: 50 },
  );
  // Time to find the smallest example where one fails.
}, 120_000);

it('of several that look in turn it loses nothing', async () => {
  const all = [processAt(0), processAt(1e9)];
  for (const { watch } of all) await watch.advance(money.em());
  for (let at = 0; at < 20; at += 1) {
    for (const each of all) each.pass(10_000);
    await all[at % 2]?.watch.advance(money.em());
  }
  expect(await shown()).toBe(200_000);
});
