/** Tests the text that says how much of a pool's period is left. */
import { expect, test } from 'vitest';
import { leftUntil } from './pool-state.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const after = (milliseconds: number) => leftUntil(new Date(NOW + milliseconds).toISOString(), NOW);

test('a period that was just paid has all of its days', () => {
  expect(after(30 * 24 * HOUR_MS - MINUTE_MS)).toEqual({ unit: 'days', count: 30 });
});

test('the last day is counted in hours, and an hour that has begun counts', () => {
  expect(after(24 * HOUR_MS)).toEqual({ unit: 'days', count: 1 });
  expect(after(24 * HOUR_MS - MINUTE_MS)).toEqual({ unit: 'hours', count: 24 });
  expect(after(MINUTE_MS)).toEqual({ unit: 'hours', count: 1 });
  expect(after(-HOUR_MS)).toEqual({ unit: 'hours', count: 0 });
});
