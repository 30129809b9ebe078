/** Holds end exactly once, and refusals tell clients what to do. */
import { expect, test } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import { LeaseHold, refusalError, unavailableError, withWalletPage } from './holds.ts';
import { usageOf } from '../../test/ledger/records.ts';

const PRICE = 100_000n;

function hold() {
  const done: string[] = [];
  const held = new LeaseHold('lease_1', PRICE, {
    commit: async (leaseId, price, { requestId }) => void done.push(`${requestId} ${leaseId} ${price}`),
    release: (leaseId, price) => done.push(`released ${leaseId} ${price}`),
  });
  return { done, held };
}

test('a committed hold can be neither committed again nor released', async () => {
  const { done, held } = hold();
  await held.commit(usageOf('request_1', PRICE));
  await expect(held.commit(usageOf('request_2', PRICE))).rejects.toThrow('already committed or released');
  expect(() => held.release()).toThrow('already committed or released');
  expect(done).toEqual([`request_1 lease_1 ${PRICE}`]);
});

test('a released hold cannot be committed', async () => {
  const { done, held } = hold();
  held.release();
  await expect(held.commit(usageOf('request_1', PRICE))).rejects.toThrow('already committed or released');
  expect(done).toEqual([`released lease_1 ${PRICE}`]);
});

test('a charge of another price is rejected with both amounts, and the hold is released', async () => {
  for (const cost of [PRICE - 1n, PRICE + 1n, 0n]) {
    const { done, held } = hold();
    await expect(held.commit(usageOf('request_1', cost))).rejects.toThrow(
      `A charge of ${cost} micro-USD does not match its hold of ${PRICE} micro-USD.`,
    );
    expect(done).toEqual([`released lease_1 ${PRICE}`]);
  }
});

test.each([
  ['insufficient_funds', 402, /too little credit.*Add credit/],
  ['spend_limit_reached', 402, /spend limit.*Raise it/],
  ['wallet_frozen', 403, /frozen.*operator/],
] as const)('the refusal %s is answered with %i and advice, without a retry time', (code, status, words) => {
  const error = refusalError(code);
  expect(error).toBeInstanceOf(GatewayError);
  expect(error.message).toMatch(words);
  expect(error).toMatchObject({ code, status });
  expect(error.details.retryAfterMs).toBeUndefined();
  expect(error.shouldRetry).toBe(false);
});

test.each([
  ['all_in_use', /in flight.*Try again/],
  ['unavailable', /cannot reach its billing.*Try again/],
] as const)(
  'the refusal %s is answered with 503 and a retry time, and says nothing about the balance',
  (code, words) => {
    const error = refusalError(code);
    expect(error).toMatchObject({ code: 'unavailable', status: 503, details: { retryAfterMs: 1_000 } });
    expect(error.message).toMatch(words);
  },
);

test('the refusal of an empty wallet names the wallet page, and others stay as they are', () => {
  const empty = withWalletPage(refusalError('insufficient_funds'), 'https://console.example');
  expect(empty).toMatchObject({ code: 'insufficient_funds', status: 402 });
  expect(String(empty)).toContain('Add credit at https://console.example/wallet and try again.');
  for (const other of [refusalError('wallet_frozen'), refusalError('unavailable'), new Error('x')])
    expect(withWalletPage(other, 'https://console.example')).toBe(other);
});

test('the disk error is the cause of the refusal, and not part of its message', () => {
  const cause = new Error('ENOSPC');
  const error = unavailableError('The gateway could not record the charge.', cause);
  expect(error).toMatchObject({ code: 'unavailable', details: { retryAfterMs: 1_000, cause } });
  expect(error.message).not.toContain('ENOSPC');
});
