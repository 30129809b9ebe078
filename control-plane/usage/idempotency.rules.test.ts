/** Tests of the pure rules of Idempotency-Keys. */
import { describe, expect, test } from 'vitest';
import { judgeReservation } from './idempotency.rules.ts';
import type { IdempotencyRecord } from './idempotency.rules.ts';

const recordOf = (more: Partial<IdempotencyRecord> = {}): IdempotencyRecord => ({
  ...{ requestId: 'r1', fingerprint: 'f1', expired: false, usage: null, abandoned: false },
  ...more,
});
const request = { requestId: 'r2', fingerprint: 'f1' };
const charged = { cost: 100n, succeeded: true };

describe('an Idempotency-Key', () => {
  test('is free if it has no record or an expired one', () => {
    expect(judgeReservation(undefined, request)).toBe('TAKE');
    expect(judgeReservation(recordOf({ expired: true, usage: charged }), request)).toBe('TAKE');
  });

  test('stays with the request that has it, charged or not', () => {
    expect(judgeReservation(recordOf(), { ...request, requestId: 'r1' })).toBe('REPEATED');
    expect(judgeReservation(recordOf({ usage: charged }), { ...request, requestId: 'r1' })).toBe('REPEATED');
  });

  test('is IN_FLIGHT until its request has ended, and DONE once it was charged or succeeded', () => {
    expect(judgeReservation(recordOf(), request)).toBe('IN_FLIGHT');
    expect(judgeReservation(recordOf({ usage: charged }), request)).toBe('DONE');
    expect(judgeReservation(recordOf({ usage: { cost: 100n, succeeded: false } }), request)).toBe('DONE');
    expect(judgeReservation(recordOf({ usage: { cost: 0n, succeeded: true } }), request)).toBe('DONE');
  });

  test('is free again if its request failed or its process died', () => {
    expect(judgeReservation(recordOf({ usage: { cost: 0n, succeeded: false } }), request)).toBe('TAKE');
    expect(judgeReservation(recordOf({ abandoned: true }), request)).toBe('TAKE');
  });

  test('is a MISMATCH for another body, unless it is free', () => {
    const other = { requestId: 'r2', fingerprint: 'f2' };
    expect(judgeReservation(recordOf(), other)).toBe('MISMATCH');
    expect(judgeReservation(recordOf({ usage: charged }), other)).toBe('MISMATCH');
    expect(judgeReservation(recordOf({ abandoned: true }), other)).toBe('TAKE');
  });

  test('is never free after its request was charged, even if the process died', () => {
    for (const fingerprint of ['f1', 'f2'])
      for (const abandoned of [false, true])
        for (const succeeded of [false, true]) {
          const record = recordOf({ fingerprint, usage: { cost: 1n, succeeded }, abandoned });
          expect(judgeReservation(record, request)).toBe(fingerprint === 'f1' ? 'DONE' : 'MISMATCH');
        }
  });
});
