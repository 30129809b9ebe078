/** A hold ends once, and clients are told why they have none. */
import { expect, test } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import { LeaseHold, refusal, unavailable } from './holds.ts';
import { usageOf } from './model/records.ts';

const PRICE = 100_000n;

function hold() {
  const done: string[] = [];
  const held = new LeaseHold('lease_1', PRICE, {
    commit: async (leaseId, price, { requestId }) => void done.push(`${requestId} ${leaseId} ${price}`),
    release: (leaseId, price) => done.push(`released ${leaseId} ${price}`),
  });
  return { done, held };
}

test('a hold is committed once with its price; neither a second charge nor a release follows', async () => {
  const { done, held } = hold();
  await held.commit(usageOf('request_1', PRICE));
  await expect(held.commit(usageOf('request_2', PRICE))).rejects.toThrow('ended twice');
  expect(() => held.release()).toThrow('ended twice');
  expect(done).toEqual([`request_1 lease_1 ${PRICE}`]);
});

test('a hold that was released is never charged', async () => {
  const { done, held } = hold();
  held.release();
  await expect(held.commit(usageOf('request_1', PRICE))).rejects.toThrow('ended twice');
  expect(done).toEqual([`released lease_1 ${PRICE}`]);
});

test('a charge of another price is none: the hold goes back, and both amounts are named', async () => {
  for (const cost of [PRICE - 1n, PRICE + 1n, 0n]) {
    const { done, held } = hold();
    await expect(held.commit(usageOf('request_1', cost))).rejects.toThrow(
      `a charge of ${cost} was made for a hold of ${PRICE}`,
    );
    expect(done).toEqual([`released lease_1 ${PRICE}`]);
  }
});

test.each([
  ['insufficient_funds', 402, /too little credit.*Add credit/],
  ['spend_limit_reached', 402, /spend limit.*Raise it/],
  ['wallet_frozen', 403, /frozen.*operator/],
] as const)('a client is told of %s with %i and what to do, and not to try again', (code, status, words) => {
  const error = refusal(code);
  expect(error).toBeInstanceOf(GatewayError);
  expect(error.message).toMatch(words);
  expect(error).toMatchObject({ code, status });
  expect(error.details.retryAfterMs).toBeUndefined();
  expect(error.shouldRetry).toBe(false);
});

test.each([
  ['all_in_use', /in flight.*Try again/],
  ['unavailable', /cannot reach its billing.*Try again/],
] as const)('%s is no word on the balance: 503, and when to try again', (code, words) => {
  const error = refusal(code);
  expect(error).toMatchObject({ code: 'unavailable', status: 503, details: { retryAfterMs: 1_000 } });
  expect(error.message).toMatch(words);
});

test('what the disk said is the cause of the refusal, for the log, and not part of its text', () => {
  const cause = new Error('ENOSPC');
  const error = unavailable('The gateway could not record the charge.', cause);
  expect(error).toMatchObject({ code: 'unavailable', details: { retryAfterMs: 1_000, cause } });
  expect(error.message).not.toContain('ENOSPC');
});
