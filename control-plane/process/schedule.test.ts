import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { every } from './schedule.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('two kinds of work with the same interval keep their distance', async () => {
  const from = performance.now();
  const starts: [name: string, at: number][] = [];
  const note = (name: string) => (): Promise<void> => {
    starts.push([name, performance.now() - from]);
    return Promise.resolve();
  };
  const works = [
    every({ intervalMs: 1_000, offsetMs: 0 }, note('first'), () => undefined),
    every({ intervalMs: 1_000, offsetMs: 100 }, note('second'), () => undefined),
  ];
  await vi.advanceTimersByTimeAsync(2_500);
  expect(starts.map(([name]) => name)).toEqual(['first', 'second', 'first', 'second']);
  const [first = 0, second = 0, third = 0] = starts.map(([, at]) => at);
  expect([second - first, third - first]).toEqual([100, 1_000]);
  for (const work of works) await work.stop();
  expect(vi.getTimerCount()).toBe(0);
});

test('two kinds of work keep their distance after a stall of the event loop', async () => {
  vi.useRealTimers();
  const [intervalMs, offsetMs] = [100, 50];
  let firstAt = 0;
  let apartMs = 0;
  const works = [
    every(
      { intervalMs, offsetMs: 0 },
      async () => (firstAt = performance.now()),
      () => undefined,
    ),
    every(
      { intervalMs, offsetMs },
      async () => {
        const afterMs = (performance.now() - firstAt) % intervalMs;
        apartMs = Math.min(afterMs, intervalMs - afterMs);
      },
      () => undefined,
    ),
  ];
  // Longer than the time to the first start of both, which then come together.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * intervalMs);
  await expect.poll(() => apartMs, { timeout: 20_000 }).toBeGreaterThan(offsetMs / 2);
  for (const work of works) await work.stop();
});

test('work that is stopped before its first run never runs', async () => {
  let runs = 0;
  const count = (): Promise<number> => Promise.resolve((runs += 1));
  await every({ intervalMs: 10, offsetMs: 100 }, count, () => undefined).stop();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([runs, vi.getTimerCount()]).toEqual([0, 0]);
});
