/** When the checklist of a new account ends. */
import { expect, it } from 'vitest';
import { mayHavePaid } from './paid.ts';

it('a key that failed only since it was revealed this month has not paid; other used keys may have', () => {
  const now = new Date('2026-11-22T08:00:00Z');
  const failed = {
    pool: null,
    spentThisMonth: '0',
    revealedAt: '2026-11-01T00:00:00Z',
    lastUsedAt: '2026-11-20T08:00:00Z',
  } as const;
  expect(mayHavePaid(failed, now)).toBe(false);
  expect(mayHavePaid({ ...failed, lastUsedAt: null }, now)).toBe(false);
  expect(mayHavePaid({ ...failed, spentThisMonth: '0.03' }, now)).toBe(true);
  expect(mayHavePaid({ ...failed, revealedAt: '2026-10-31T23:59:59Z' }, now)).toBe(true);
  expect(
    mayHavePaid(
      { ...failed, pool: { __typename: 'Pool', id: 'pool_1', name: 'Atlas', subdomain: 'atlas' } },
      now,
    ),
  ).toBe(true);
});
