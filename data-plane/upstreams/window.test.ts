/** The five-minute window of an upstream's results and latencies. */
import { describe, expect, it } from 'vitest';
import { HealthWindow, WINDOW_SPAN_MS } from './window.ts';

const START = 1_000_000;

describe('the window of an upstream', () => {
  it('counts successes and each kind of fault', () => {
    const window = new HealthWindow();
    for (const fault of [undefined, undefined, 'BUSY', 'TIMEOUT', 'REFUSED', 'REFUSED', 'FAILED'] as const)
      window.countAttempt(fault, START);
    expect(window.counts(START)).toEqual({ succeeded: 2, faults: [1, 1, 2, 1] });
  });

  it('forgets results older than its span, and keeps those younger by at least a slot', () => {
    const window = new HealthWindow();
    window.countAttempt('FAILED', START);
    window.countLatency(100, START);
    const young = START + WINDOW_SPAN_MS - 31_000;
    expect(window.counts(young).faults).toEqual([0, 0, 0, 1]);
    expect(window.quantile(0.5, young)).not.toBeNull();
    const old = START + WINDOW_SPAN_MS;
    expect(window.counts(old).faults).toEqual([0, 0, 0, 0]);
    expect(window.quantile(0.5, old)).toBeNull();
  });

  it('is empty after a pause of many spans', () => {
    const window = new HealthWindow();
    for (let at = 0; at < 20; at += 1) window.countAttempt(undefined, START + at * 30_000);
    expect(window.counts(START + 100 * WINDOW_SPAN_MS).succeeded).toBe(0);
  });

  it.each([1, 10, 99, 1_000, 30_000, 600_000])(
    'reports a latency of %i ms at most a fifth too high',
    (ms) => {
      const window = new HealthWindow();
      window.countLatency(ms, START);
      const reported = window.quantile(0.95, START) ?? 0;
      expect(reported).toBeGreaterThanOrEqual(Math.max(10, ms));
      expect(reported).toBeLessThanOrEqual(Math.max(10, ms * 1.2 + 1));
    },
  );

  it('reports the time within which a share of the answers began', () => {
    const window = new HealthWindow();
    for (let at = 0; at < 90; at += 1) window.countLatency(10, START);
    for (let at = 0; at < 10; at += 1) window.countLatency(5_000, START);
    expect(window.quantile(0.5, START)).toBe(10);
    expect(window.quantile(0.9, START)).toBe(10);
    expect(window.quantile(0.95, START)).toBeGreaterThanOrEqual(5_000);
  });
});
