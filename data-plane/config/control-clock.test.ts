/** The age of a configuration does not depend on the node's wall clock. */
import { expect, test } from 'vitest';
import { ControlClock } from './control-clock.ts';

const HOUR_MS = 3_600_000;

test('the clock follows the control plane, regardless of the wall clock of the node', () => {
  const clocks = { mono: 5_000, wall: Date.parse('2026-11-24T04:00:00Z') + 30 * HOUR_MS };
  const clock = new ControlClock({ monotonic: () => clocks.mono, wall: () => clocks.wall });
  expect(clock.now()).toBe(clocks.wall);
  clock.set('2026-11-24T04:00:00Z');
  clocks.mono += 2_000;
  clocks.wall -= 90 * HOUR_MS;
  expect(new Date(clock.now()).toISOString()).toBe('2026-11-24T04:00:02.000Z');
  clock.set('not a time');
  expect(new Date(clock.now()).toISOString()).toBe('2026-11-24T04:00:02.000Z');
});
