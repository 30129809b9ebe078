import { expect, it } from 'vitest';
import { LineLimit } from './line-limit.ts';

/** A limit with a clock that the test sets, and the numbers of omitted lines. */
function create(perCaller: number, total: number) {
  const clock = { now: 0 };
  const omitted: number[] = [];
  const lines = new LineLimit({
    perCaller,
    total,
    now: () => clock.now,
    omitted: (count) => omitted.push(count),
  });
  return { clock, omitted, lines };
}

it('allows each caller its own lines per minute', () => {
  const { clock, lines } = create(3, 100);
  const allowed = Array.from({ length: 10 }, () => lines.allows('noisy'));
  expect(allowed.filter(Boolean)).toHaveLength(3);
  expect(lines.allows('quiet')).toBe(true);
  clock.now = 59_999;
  expect(lines.allows('noisy')).toBe(false);
  clock.now = 60_000;
  expect(lines.allows('noisy')).toBe(true);
});

it('allows all callers together a limited number of lines per minute', () => {
  const { lines } = create(3, 10);
  const allowed = Array.from({ length: 50 }, (_, index) => lines.allows(`caller ${index}`));
  expect(allowed.filter(Boolean)).toHaveLength(10);
});

it('reports once per minute how many lines were omitted', () => {
  const { clock, omitted, lines } = create(1, 100);
  for (let count = 0; count < 5; count += 1) lines.allows('noisy');
  expect(omitted).toEqual([]);
  clock.now = 60_000;
  lines.allows('noisy');
  clock.now = 120_000;
  lines.allows('noisy');
  expect(omitted).toEqual([4]);
});
