/** Tests the part of an upstream's error that clients see. */
import { describe, expect, it } from 'vitest';
import { retryAfterOf, withModelName } from './verdict.ts';

describe('retryAfterOf', () => {
  it('reads seconds, milliseconds and dates, and ignores other values', () => {
    expect(retryAfterOf({ 'retry-after': '2' }, 0)).toBe(2_000);
    expect(retryAfterOf({ 'retry-after-ms': '150', 'retry-after': '2' }, 0)).toBe(150);
    expect(retryAfterOf({ 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' }, 0)).toBe(9_000);
    expect(retryAfterOf({ 'retry-after': 'soon' }, 0)).toBeUndefined();
    expect(retryAfterOf({}, 0)).toBeUndefined();
  });
});

describe('withModelName', () => {
  it('replaces the upstream’s name of the model wherever it stands alone', () => {
    const body =
      '{"error":{"message":"vendor/m-1 (models/vendor/m-1) is no vendor/m-1-mini or vendor/m-1.5."}}';
    expect(withModelName(body, 'vendor/m-1', 'swift')).toBe(
      '{"error":{"message":"swift (models/swift) is no vendor/m-1-mini or vendor/m-1.5."}}',
    );
  });

  it('replaces the name at the end of a sentence', () => {
    expect(withModelName('{"message":"Unknown model m$."}', 'm$', 'swift')).toBe(
      '{"message":"Unknown model swift."}',
    );
  });
});
