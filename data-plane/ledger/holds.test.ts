/** A hold ends once; each word of the control plane on a lease means one thing to money and to clients. */
import { expect, test } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import { LeaseHold, refusal, unavailable, understand } from './holds.ts';
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

const NO_LEASE = { leaseId: null, granted: '0.00', cash: '0.00', gift: '0.00', deadlineMs: 0 };
const silent = { warn: () => undefined };

test('a granted lease has its amount in micro-dollars and its deadline', () => {
  const answer = { leaseId: 'lease_1', granted: '1.25', cash: '1.25', gift: '0.00', deadlineMs: 86_400_000 };
  expect(understand(7, { ...answer, userErrors: [] }, silent)).toEqual({
    type: 'GRANTED',
    no: 7,
    leaseId: 'lease_1',
    amount: 1_250_000n,
    deadlineMs: 86_400_000,
  });
});

test.each([
  ['CONFLICT', { type: 'CONFLICT', no: 7 }],
  ['INSUFFICIENT_BALANCE', { type: 'REFUSED', no: 7, code: 'insufficient_funds' }],
  ['SPEND_LIMIT_REACHED', { type: 'REFUSED', no: 7, code: 'spend_limit_reached' }],
  ['WALLET_FROZEN', { type: 'REFUSED', no: 7, code: 'wallet_frozen' }],
])('%s is understood, and is nothing to log', (code, event) => {
  const told: object[] = [];
  const answer = { ...NO_LEASE, userErrors: [{ code, message: 'words' }] };
  expect(understand(7, answer, { warn: (fields) => void told.push(fields) })).toEqual(event);
  expect(told).toEqual([]);
});

test.each([
  ['a word that is not known', NO_LEASE, [{ code: 'TEAPOT', message: 'short and stout' }], 'TEAPOT'],
  ['no lease and no reason', NO_LEASE, [], undefined],
  ['an amount that cannot be read', { ...NO_LEASE, leaseId: 'lease_1', granted: 'lots' }, [], undefined],
  ['an amount without a lease', { ...NO_LEASE, granted: '5.00' }, [], undefined],
])('%s grants nothing, is never said to be the balance, and is logged', (_, answer, userErrors, code) => {
  const told: { fields: object; message: string }[] = [];
  const log = { warn: (fields: object, message: string) => void told.push({ fields, message }) };
  expect(understand(7, { ...answer, userErrors }, log)).toEqual({
    type: 'REFUSED',
    no: 7,
    code: 'unavailable',
  });
  expect(told).toEqual([{ fields: { code, reason: userErrors[0]?.message }, message: expect.any(String) }]);
  expect(told[0]?.message).toMatch(/unknown reason/);
});
