/** The wait that an upstream asks for. */
import { describe, expect, it } from 'vitest';
import { retryAfterOf } from './verdict.ts';

describe('retryAfterOf', () => {
  it('reads seconds, milliseconds and dates, and ignores other values', () => {
    expect(retryAfterOf({ 'retry-after': '2' }, 0)).toBe(2_000);
    expect(retryAfterOf({ 'retry-after-ms': '150', 'retry-after': '2' }, 0)).toBe(150);
    expect(retryAfterOf({ 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' }, 0)).toBe(9_000);
    expect(retryAfterOf({ 'retry-after': 'soon' }, 0)).toBeUndefined();
    expect(retryAfterOf({}, 0)).toBeUndefined();
  });
});
