/** The word for the state of a key. */
import { expect, it } from 'vitest';
import { isNeverRevealed, stateOf } from './key-state.ts';

const revoked = {
  state: 'DISABLED',
  disabledReason: 'REVOKED',
  rotation: null,
  spendLimit: null,
  spentThisMonth: '0',
} as const;

it('a key that was revoked before its secret was revealed has a state of its own', () => {
  expect(stateOf({ ...revoked, revealedAt: null })).toBe('NEVER_REVEALED');
  expect(isNeverRevealed({ ...revoked, revealedAt: null })).toBe(true);
});

it('an enabled key that has spent its cap is capped, and one below its cap is enabled', () => {
  const enabled = {
    ...revoked,
    state: 'ENABLED',
    disabledReason: null,
    revealedAt: '2026-11-22T08:00:00Z',
  } as const;
  expect(stateOf({ ...enabled, spendLimit: '50', spentThisMonth: '50.01' })).toBe('CAPPED');
  expect(stateOf({ ...enabled, spendLimit: '50', spentThisMonth: '50' })).toBe('CAPPED');
  expect(stateOf({ ...enabled, spendLimit: '50', spentThisMonth: '49.99' })).toBe('ENABLED');
  expect(stateOf({ ...enabled, spentThisMonth: '49.99' })).toBe('ENABLED');
});

it('a key that was revealed and then revoked, or that waits to be revealed, has the general state', () => {
  expect(stateOf({ ...revoked, revealedAt: '2026-11-22T08:00:00Z' })).toBe('REVOKED');
  expect(stateOf({ ...revoked, disabledReason: 'NOT_REVEALED', revealedAt: null })).toBe('NOT_REVEALED');
});
