/** When a settler reports, by a clock of the test. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ReportPace } from './report-pace.ts';

const FULL = 5;
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A pace, the records that wait, and the times at which a report was due, in ms. */
function paceUnderTest() {
  const records = { waiting: 0 };
  const reports: number[] = [];
  const pace = new ReportPace({ count: () => records.waiting, full: () => FULL });
  const from = performance.now();
  const add = (count = 1): void => {
    for (let added = 0; added < count; added += 1) {
      records.waiting += 1;
      pace.recorded();
    }
  };
  /** Reports whatever waits, at once. */
  const run = async (idleMs?: number): Promise<void> => {
    while (!pace.isStopped) {
      pace.taking();
      if (records.waiting > 0) {
        pace.sent();
        reports.push(Math.round(performance.now() - from));
        records.waiting = 0;
      }
      await pace.gather(idleMs);
    }
  };
  return { pace, records, reports, add, run };
}

test('the first record after a quiet second starts a report, after the answer to it', async () => {
  const { pace, reports, add, run } = paceUnderTest();
  const running = run();
  await pass(5_000);
  add();
  await Promise.resolve();
  expect(reports).toEqual([]);
  await pass(0);
  expect(reports).toEqual([5_000]);
  pace.stop();
  await running;
});

test('a steady load is reported once a second, after a record', async () => {
  const { pace, reports, add, run } = paceUnderTest();
  const running = run();
  for (let at = 0; at < 300; at += 1) {
    if (at % 25 === 0) add();
    await pass(10);
  }
  expect(reports).toEqual([0, 1_000, 2_000]);
  pace.stop();
  await running;
});

test('records that no other one follows are reported shortly after the second', async () => {
  const { pace, reports, add, run } = paceUnderTest();
  const running = run();
  add();
  await pass(10);
  add();
  await pass(1_500);
  expect(reports).toEqual([0, 1_050]);
  pace.stop();
  await running;
});

test('records that fill a report are reported at once', async () => {
  const { pace, reports, add, run } = paceUnderTest();
  const running = run();
  add();
  await pass(10);
  add(FULL - 1);
  await pass(10);
  expect(reports).toEqual([0]);
  add();
  await pass(0);
  expect(reports).toEqual([0, 20]);
  pace.stop();
  await running;
});

test('a record does not end a pause after a failure, a lease that waits to be closed does', async () => {
  const { pace, add } = paceUnderTest();
  let isOver = false;
  void pace.pause(10_000).then(() => (isOver = true));
  add(FULL);
  await pass(5_000);
  expect(isOver).toBe(false);
  pace.hurry();
  await pass(0);
  expect(isOver).toBe(true);
});

test('a call of hurry during a report lets nothing be gathered', async () => {
  const { pace } = paceUnderTest();
  pace.taking();
  pace.sent();
  pace.hurry();
  await pace.gather(undefined);
  expect(vi.getTimerCount()).toBe(0);
});

test('records that already fill a report are not gathered', async () => {
  const { pace, add } = paceUnderTest();
  pace.sent();
  add(FULL);
  await pace.gather(undefined);
  expect(vi.getTimerCount()).toBe(0);
});

test('a record that ended a wait does not end the next one', async () => {
  const { pace, add, records } = paceUnderTest();
  pace.sent();
  const first = pace.gather(undefined);
  add(FULL);
  pace.hurry();
  await first;
  pace.taking();
  pace.sent();
  records.waiting = 0;
  let isOver = false;
  void pace.gather(undefined).then(() => (isOver = true));
  records.waiting = 1;
  await pass(0);
  expect(isOver).toBe(false);
});

test('without records a wait ends after the idle time, and without one not at all', async () => {
  const { pace } = paceUnderTest();
  const ends: number[] = [];
  void pace.gather(30_000).then(() => ends.push(1));
  await pass(29_000);
  expect(ends).toEqual([]);
  await pass(1_000);
  expect(ends).toEqual([1]);
  void pace.gather(undefined).then(() => ends.push(2));
  await pass(3_600_000);
  expect(ends).toEqual([1]);
  pace.stop();
  await pass(0);
  expect(ends).toEqual([1, 2]);
});
