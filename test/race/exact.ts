/** Checks the result of a round of the race. */
import { expect } from 'vitest';
import type { Round } from './run.ts';

/**
 * Expects exactly the number of answers and charges that the wallet could pay, an empty wallet, and a refusal
 * for the rest.
 */
export function expectExact({ moneyFor, statuses, charges, leftMicros }: Round, requests: number): void {
  const { 200: answered = 0, 402: refused = 0, 503: unavailable = 0 } = statuses;
  expect({ answered, charges, leftMicros }).toEqual({ answered: moneyFor, charges: moneyFor, leftMicros: 0 });
  expect(refused + unavailable).toBe(requests - moneyFor);
}
