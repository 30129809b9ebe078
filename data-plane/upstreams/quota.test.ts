/** The quotas that providers state. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spentForMs } from './quota.ts';

const NOW = Date.parse('2026-11-25T00:00:00Z');

describe('spentForMs', () => {
  it.each([
    ['6m0s', 300_000],
    ['1m30s', 90_000],
    ['20ms', 20],
    ['2.5s', 2_500],
    ['12', 12_000],
    ['2026-11-25T00:00:30Z', 30_000],
    ['2026-11-24T00:00:00Z', 0],
    ['soon', 5_000],
  ])('is the time to the reset %s if no request is left', (reset, expected) => {
    const headers = {
      'x-ratelimit-limit-requests': '100',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': reset,
    };
    expect(spentForMs(headers, NOW)).toBe(expected);
  });

  it('is 0 while more than a fiftieth of each limit is left, or nothing is stated', () => {
    expect(spentForMs({}, NOW)).toBe(0);
    const plenty = { 'x-ratelimit-limit-tokens': '1000', 'x-ratelimit-remaining-tokens': '21' };
    expect(spentForMs(plenty, NOW)).toBe(0);
    expect(spentForMs({ 'x-ratelimit-remaining-tokens': '' }, NOW)).toBe(0);
    expect(spentForMs({ 'x-ratelimit-remaining-tokens': 'many' }, NOW)).toBe(0);
  });

  it('is the longest of the limits that are used up', () => {
    const headers = {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '1',
      'anthropic-ratelimit-requests-reset': '2026-11-25T00:00:10Z',
      'anthropic-ratelimit-input-tokens-limit': '80000',
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-11-25T00:00:20Z',
    };
    expect(spentForMs(headers, NOW)).toBe(20_000);
  });

  it('is never negative, nor longer than five minutes, whatever the headers say', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (limit, remaining, reset) => {
        const headers = {
          'x-ratelimit-limit-requests': limit,
          'x-ratelimit-remaining-requests': remaining,
          'x-ratelimit-reset-requests': reset,
        };
        const ms = spentForMs(headers, NOW);
        expect(ms >= 0 && ms <= 300_000).toBe(true);
      }),
    );
  });
});
