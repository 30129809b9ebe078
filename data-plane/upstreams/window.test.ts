import { describe, expect, it } from 'vitest';
import { HealthWindow, WINDOW_SPAN_MS } from './window.ts';

const START = 1_000_000;

describe('the window of an upstream', () => {
  it('counts how turns ended, by kind of fault', () => {
    const window = new HealthWindow();
    for (const fault of [undefined, undefined, 'BUSY', 'TIMEOUT', 'REFUSED', 'REFUSED', 'FAILED'] as const)
      window.ended(fault, START);
    expect(window.counts(START)).toEqual({ succeeded: 2, faults: [1, 1, 2, 1] });
  });

  it('forgets what is older than its span, and nothing that is younger by a slot', () => {
    const window = new HealthWindow();
    window.ended('FAILED', START);
    window.answered(100, START);
    const young = START + WINDOW_SPAN_MS - 31_000;
    expect(window.counts(young).faults).toEqual([0, 0, 0, 1]);
    expect(window.quantile(0.5, young)).not.toBeNull();
    const old = START + WINDOW_SPAN_MS;
    expect(window.counts(old).faults).toEqual([0, 0, 0, 0]);
    expect(window.quantile(0.5, old)).toBeNull();
  });

  it('is empty after a pause of many spans', () => {
    const window = new HealthWindow();
    for (let at = 0; at < 20; at += 1) window.ended(undefined, START + at * 30_000);
    expect(window.counts(START + 100 * WINDOW_SPAN_MS).succeeded).toBe(0);
  });

  it.each([1, 10, 99, 1_000, 30_000, 600_000])('tells a latency of %i ms at most a fifth too high', (ms) => {
    const window = new HealthWindow();
    window.answered(ms, START);
    const told = window.quantile(0.95, START) ?? 0;
    expect(told).toBeGreaterThanOrEqual(Math.max(10, ms));
    expect(told).toBeLessThanOrEqual(Math.max(10, ms * 1.2 + 1));
  });

  it('tells the time within which a share of the answers began', () => {
    const window = new HealthWindow();
    for (let at = 0; at < 90; at += 1) window.answered(10, START);
    for (let at = 0; at < 10; at += 1) window.answered(5_000, START);
    expect(window.quantile(0.5, START)).toBe(10);
    expect(window.quantile(0.9, START)).toBe(10);
    expect(window.quantile(0.95, START)).toBeGreaterThanOrEqual(5_000);
  });
});
